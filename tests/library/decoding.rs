//! Decoding with what was read kept gives what decoding without it gives.

use proptest::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use typed_transformer::{
    generate::{Sampler, try_complete, try_generate},
    models::{another_annotated::Annotated, learning_the_transformer::Learning, nano_gpt::NanoGpt},
    prelude::*,
};

dims! {
    VocabSize = 11; SrcVocab = 7; MaxSeqLen = 12; MaxSrcLen = 9; EmbedDim = 6; NumHeads = 3; QKDim = 4;
    VODim = 5; HiddenDim = 10; NumLayers = 2;
    Len <= MaxSeqLen; SrcLen <= MaxSrcLen; Batch;
}

/// A model of each kind in this style.
macro_rules! model {
    ($name:ident, $style:ty) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = NumHeads;
            type QKDim = QKDim;
            type VODim = VODim;
            type HiddenDim = HiddenDim;
            type Conventions = $style;
        }
        impl SingleStack for $name {
            type VocabSize = VocabSize;
            type MaxSeqLen = MaxSeqLen;
            type EmbedDim = EmbedDim;
            type NumLayers = NumLayers;
        }
        impl Seq2Seq for $name {
            type SrcVocab = SrcVocab;
            type TgtVocab = VocabSize;
            type MaxSrcLen = MaxSrcLen;
            type MaxTgtLen = MaxSeqLen;
            type EmbedDim = EmbedDim;
            type EncoderLayers = NumLayers;
            type DecoderLayers = NumLayers;
        }
    };
}
model!(Typed, TypedTransformer);
model!(Flax, Annotated);
model!(Equinox, Learning);
model!(Nano, NanoGpt);

fn random<B: Dim, S: Dim, V: ConstDim>(
    rng: &mut StdRng,
    pad: Option<Fin<V>>,
    shape: (B, S),
) -> TokenIds<B, S, V> {
    let count = shape.0.size() * shape.1.size();
    let ids: Vec<usize> = (0..count).map(|_| rng.gen_range(0..V::SIZE)).collect();
    TokenIds::from_ids(&ids, pad, shape).unwrap()
}

#[track_caller]
fn assert_close(one: &[f64], other: &[f64]) {
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(other) {
        assert!((one - other).abs() < 1e-9, "{one} and {other}");
    }
}

/// Reads tokens in pieces that begin at these places.
fn extends_as_it_reads_at_once<M: SingleStack<VocabSize = VocabSize, MaxSeqLen = MaxSeqLen>>(
    seed: u64,
    rows: usize,
    pieces: &[usize],
) {
    let model = DecoderOnly::<M, f64, Cpu>::build(&Cpu::seed_from_u64(seed));
    let mut rng = StdRng::seed_from_u64(seed);
    let (batch, len) = (Batch::new(rows), pieces.iter().sum());
    let ids = random(&mut rng, None, (batch, Len::new(len).unwrap()));
    let at_once = model.forward(&ids, NoneTape).as_vec();

    let mut cache = model.try_cache(batch).unwrap();
    let mut start = 0;
    for &piece in pieces {
        let part = |row: usize| &ids.as_slice()[row * len + start..][..piece];
        let part: Vec<usize> = (0..rows).flat_map(part).copied().collect();
        let part = TokenIds::from_ids(&part, None, (batch, Len::new(piece).unwrap())).unwrap();
        let logits = model.try_forward_cached(&part, &mut cache).unwrap().as_vec();
        let size = piece * VocabSize::SIZE;
        for row in 0..rows {
            let first = (row * len + start) * VocabSize::SIZE;
            assert_close(&logits[row * size..][..size], &at_once[first..][..size]);
        }
        start += piece;
        assert_eq!(cache.len(), start);
    }
}

/// What the model writes when it reads everything anew for each token.
fn answer_anew<M: Seq2Seq<TgtVocab = VocabSize, MaxTgtLen = MaxSeqLen>, E: Real>(
    model: &LM<M, E, Cpu>,
    source: &TokenIds<Batch, SrcLen, M::SrcVocab>,
    start: Fin<VocabSize>,
    end: Fin<VocabSize>,
    len: usize,
) -> Vec<usize>
where
    Cpu: Backend<E>,
    SrcLen: AtMost<M::MaxSrcLen>,
{
    let (batch, _) = source.shape();
    let encoded = model.encoder.forward(source, NoneTape);
    let mut written = vec![Vec::<usize>::new(); batch.size()];
    for position in 0..len {
        let so_far = |row: &Vec<usize>| -> Vec<usize> {
            std::iter::once(start.value()).chain(row.iter().copied()).collect()
        };
        let so_far: Vec<usize> = written.iter().flat_map(so_far).collect();
        let len = Len::new(position + 1).unwrap();
        let so_far = TokenIds::from_ids(&so_far, None, (batch, len)).unwrap();
        let decoded = model.decoder.forward(&so_far, encoded.clone(), &source.padding_mask());
        let logits = model.try_logits(decoded).unwrap().as_vec();
        for (row, tokens) in written.iter_mut().enumerate() {
            let last = &logits[(row * (position + 1) + position) * VocabSize::SIZE..];
            let best = Sampler::<VocabSize>::greedy().choose(&last[..VocabSize::SIZE]);
            let has_ended = tokens.last() == Some(&end.value());
            tokens.push(if has_ended { end } else { best.unwrap() }.value());
        }
    }
    written.concat()
}

fn answers_as_it_does_anew<M>(seed: u64, rows: usize, source_len: usize, len: usize)
where
    M: Seq2Seq<SrcVocab = SrcVocab, TgtVocab = VocabSize, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxSeqLen>,
{
    let model = LM::<M, f64, Cpu>::build(&Cpu::seed_from_u64(seed));
    let mut rng = StdRng::seed_from_u64(seed);
    let shape = (Batch::new(rows), SrcLen::new(source_len).unwrap());
    let source = random(&mut rng, Some(Fin::literal::<3>()), shape);
    let (start, end) = (Fin::literal::<9>(), Fin::new(rng.gen_range(0..11)).unwrap());
    let tgt = Len::new(len).unwrap();
    let kept = try_generate(&model, &source, start, end, tgt, &mut Sampler::greedy()).unwrap();
    assert_eq!(kept.as_slice(), answer_anew(&model, &source, start, end, len));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_is_read_in_pieces_is_what_is_read_at_once(
        seed in any::<u64>(), rows in 1usize..4, pieces in prop::collection::vec(1usize..5, 1..4),
    ) {
        prop_assume!(pieces.iter().sum::<usize>() <= MaxSeqLen::SIZE);
        extends_as_it_reads_at_once::<Typed>(seed, rows, &pieces);
        extends_as_it_reads_at_once::<Flax>(seed, rows, &pieces);
        extends_as_it_reads_at_once::<Equinox>(seed, rows, &pieces);
        extends_as_it_reads_at_once::<Nano>(seed, rows, &pieces);
    }

    #[test]
    fn an_answer_is_the_same_with_what_was_read_kept(
        seed in any::<u64>(), rows in 1usize..4, source_len in 1usize..10, len in 1usize..13,
    ) {
        answers_as_it_does_anew::<Typed>(seed, rows, source_len, len);
        answers_as_it_does_anew::<Flax>(seed, rows, source_len, len);
        answers_as_it_does_anew::<Nano>(seed, rows, source_len, len);
    }

    #[test]
    fn a_prompt_is_completed_as_it_is_anew(seed in any::<u64>(), rows in 1usize..4, read in 1usize..6) {
        let model = DecoderOnly::<Nano, f64, Cpu>::build(&Cpu::seed_from_u64(seed));
        let mut rng = StdRng::seed_from_u64(seed);
        let (batch, len) = (Batch::new(rows), MaxSeqLen);
        let prompt = random(&mut rng, None, (batch, Len::new(read).unwrap()));
        let end: Fin<VocabSize> = Fin::new(rng.gen_range(0..11)).unwrap();
        let whole =
            try_complete(&model, &prompt, Some(end), len, &mut Sampler::greedy()).unwrap();
        for row in 0..rows {
            let whole: Vec<usize> = whole.row(row).unwrap().iter().map(|t| t.value()).collect();
            let mut anew: Vec<usize> = prompt.as_slice()[row * read..][..read].to_vec();
            let mut ended = false;
            while anew.len() < len.size() {
                let shape = (Batch::new(1), Len::new(anew.len()).unwrap());
                let ids = TokenIds::from_ids(&anew, None, shape).unwrap();
                let logits = model.forward(&ids, NoneTape).as_vec();
                let last = &logits[logits.len() - VocabSize::SIZE..];
                let best: Fin<VocabSize> = Sampler::greedy().choose(last).unwrap();
                anew.push(if ended { end } else { best }.value());
                ended |= best == end;
            }
            prop_assert_eq!(whole, anew);
        }
    }
}

#[test]
fn a_seed_makes_the_same_text_and_another_another() {
    let model = DecoderOnly::<Nano, f32, Cpu>::build(&Cpu::seed_from_u64(1));
    let prompt = TokenIds::from_ids(&[1, 2, 3, 4], None, (Batch::new(2), Len::new(2).unwrap()));
    let prompt = prompt.unwrap();
    let text = |seed| {
        let mut sampler = Sampler::with_temperature(1.0, seed).unwrap();
        try_complete(&model, &prompt, None, MaxSeqLen, &mut sampler).unwrap()
    };
    assert_eq!(text(1).as_slice(), text(1).as_slice());
    assert_ne!(text(1).as_slice(), text(2).as_slice());
    assert_eq!(text(1).pad_token_id(), None);
}

#[test]
fn nothing_is_read_past_the_maximum() {
    let model = DecoderOnly::<Nano, f32, Cpu>::build(&Cpu::default());
    let mut cache = model.try_cache(Batch::new(1)).unwrap();
    let ids = |rows: usize, len| {
        let shape = (Batch::new(rows), Len::new(len).unwrap());
        TokenIds::from_ids(&vec![0; rows * len], None, shape).unwrap()
    };
    model.try_forward_cached(&ids(1, 10), &mut cache).unwrap();
    let error = model.try_forward_cached(&ids(1, 3), &mut cache).unwrap_err();
    assert_eq!(error.to_string(), "cache: Len=3 from 10 on is not inside MaxSeqLen=12");
    let error = model.try_forward_cached(&ids(2, 1), &mut cache).unwrap_err();
    assert_eq!(error.to_string(), "cache: `Batch` is 1 in the cache and 2 in the tokens");
    // What was refused left nothing behind.
    assert_eq!(format!("{cache:?}"), "Cache (Batch=1, 10 of MaxSeqLen=12)");
    assert!(model.try_forward_cached(&ids(1, 2), &mut cache).is_ok());
}

#[test]
fn a_prompt_longer_than_the_whole_is_an_error() {
    let model = DecoderOnly::<Nano, f32, Cpu>::build(&Cpu::default());
    let shape = (Batch::new(1), Len::new(4).unwrap());
    let prompt = TokenIds::from_ids(&[0; 4], None, shape).unwrap();
    let mut sampler = Sampler::greedy();
    let complete =
        |len, sampler: &mut _| try_complete(&model, &prompt, None, Len::new(len).unwrap(), sampler);
    assert_eq!(
        complete(3, &mut sampler).unwrap_err().to_string(),
        "complete: Len=4 from 0 on is not inside Len=3"
    );
    assert_eq!(complete(4, &mut sampler).unwrap().as_slice(), [0; 4]);
}
