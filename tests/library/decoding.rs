//! Decoding with a key-value cache gives the result of decoding without one.

use crate::fixture::*;
use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use proptest::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use typed_transformer::generate::{Sampler, generate_from_prompt, generate_target};
use typed_transformer::nn::Autoregressive;
use typed_transformer::ops::select;
use typed_transformer::prelude::*;

fn random<B: Dim, S: Dim, V: ConstDim>(rng: &mut StdRng, pad: Option<Fin<V>>, shape: (B, S)) -> TokenIds<B, S, V> {
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

/// Reads the tokens in chunks of these lengths and compares the logits with those of one pass.
fn check_cached_forward<M: SingleStack<VocabSize = VocabSize, MaxSeqLen = MaxSeqLen>>(
    seed: u64,
    rows: usize,
    pieces: &[usize],
) {
    let model = DecoderOnly::<M, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(seed));
    let mut rng = StdRng::seed_from_u64(seed);
    let (batch, len) = (Batch::new(rows), pieces.iter().sum());
    let ids = random(&mut rng, None, (batch, SeqLen::new(len).unwrap()));
    let at_once = model.forward(&ids, NoneTape).unwrap().as_vec();

    let mut cache = model.cache(batch).unwrap();
    let mut start = 0;
    for &piece in pieces {
        let part = |row: usize| &ids.as_slice()[row * len + start..][..piece];
        let part: Vec<usize> = (0..rows).flat_map(part).copied().collect();
        let part = TokenIds::from_ids(&part, None, (batch, SeqLen::new(piece).unwrap())).unwrap();
        let logits = model.all_logits(&part, &mut cache).unwrap().as_vec();
        let size = piece * VocabSize::SIZE;
        for row in 0..rows {
            let first = (row * len + start) * VocabSize::SIZE;
            assert_close(&logits[row * size..][..size], &at_once[first..][..size]);
        }
        start += piece;
        assert_eq!(cache.len(), start);
    }
}

/// Generates by running the model on the whole sequence for every token.
fn generate_without_cache<M: Seq2Seq<TgtVocab = VocabSize, MaxTgtLen = MaxSeqLen>, E: Real>(
    model: &LM<M, E, AutoDevice>,
    source: &TokenIds<Batch, SrcLen, M::SrcVocab>,
    start: Fin<VocabSize>,
    end: Fin<VocabSize>,
    len: usize,
) -> Vec<usize>
where
    AutoDevice: Backend<E>,
    SrcLen: AtMost<M::MaxSrcLen>,
{
    let (batch, _) = source.shape();
    let encoded = model.encoder.forward(source, NoneTape).unwrap();
    let mut generated = vec![Vec::<usize>::new(); batch.size()];
    for position in 0..len {
        let so_far =
            |row: &Vec<usize>| -> Vec<usize> { std::iter::once(start.value()).chain(row.iter().copied()).collect() };
        let so_far: Vec<usize> = generated.iter().flat_map(so_far).collect();
        let len = SeqLen::new(position + 1).unwrap();
        let so_far = TokenIds::from_ids(&so_far, None, (batch, len)).unwrap();
        let decoded = model.decoder.forward(&so_far, encoded.clone(), &source.padding_mask()).unwrap();
        let last = select(model.logits(decoded).unwrap(), axis::<SeqLen>(), position).unwrap();
        for (tokens, best) in generated.iter_mut().zip(Sampler::greedy().choose_each(&last).unwrap()) {
            let has_ended = tokens.last() == Some(&end.value());
            tokens.push(if has_ended { end } else { best }.value());
        }
    }
    generated.concat()
}

fn check_cached_generation<M>(seed: u64, rows: usize, source_len: usize, len: usize)
where
    M: Seq2Seq<SrcVocab = SrcVocab, TgtVocab = VocabSize, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxSeqLen>,
{
    let model = LM::<M, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(seed));
    let mut rng = StdRng::seed_from_u64(seed);
    let shape = (Batch::new(rows), SrcLen::new(source_len).unwrap());
    let source = random(&mut rng, Some(Fin::literal::<3>()), shape);
    let (start, end) = (Fin::literal::<9>(), Fin::new(rng.gen_range(0..VocabSize::SIZE)).unwrap());
    let tgt = SeqLen::new(len).unwrap();
    let cached = generate_target(&model, &source, start, end, tgt, &mut Sampler::greedy()).unwrap();
    assert_eq!(cached.as_slice(), generate_without_cache(&model, &source, start, end, len));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn cached_logits_equal_those_of_one_pass(
        seed in any::<u64>(), rows in 1usize..4, pieces in prop::collection::vec(1usize..5, 1..4),
    ) {
        prop_assume!(pieces.iter().sum::<usize>() <= MaxSeqLen::SIZE);
        check_cached_forward::<TypedModel>(seed, rows, &pieces);
        check_cached_forward::<AnnotatedModel>(seed, rows, &pieces);
        check_cached_forward::<LearningModel>(seed, rows, &pieces);
        check_cached_forward::<NanoGptModel>(seed, rows, &pieces);
    }

    #[test]
    fn cached_generation_equals_generation_without_a_cache(
        seed in any::<u64>(), rows in 1usize..4, source_len in 1usize..10, len in 1usize..13,
    ) {
        check_cached_generation::<TypedModel>(seed, rows, source_len, len);
        check_cached_generation::<AnnotatedModel>(seed, rows, source_len, len);
        check_cached_generation::<NanoGptModel>(seed, rows, source_len, len);
    }

    #[test]
    fn cached_completion_equals_completion_without_a_cache(seed in any::<u64>(), rows in 1usize..4, read in 1usize..6) {
        let model = DecoderOnly::<NanoGptModel, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(seed));
        let mut rng = StdRng::seed_from_u64(seed);
        let (batch, len) = (Batch::new(rows), MaxSeqLen);
        let prompt = random(&mut rng, None, (batch, SeqLen::new(read).unwrap()));
        let end: Fin<VocabSize> = Fin::new(rng.gen_range(0..VocabSize::SIZE)).unwrap();
        let completed =
            generate_from_prompt(&model, &prompt, Some(end), len, &mut Sampler::greedy()).unwrap();
        for row in 0..rows {
            let completed: Vec<usize> = completed.row(row).unwrap().iter().map(|t| t.value()).collect();
            let mut uncached: Vec<usize> = prompt.as_slice()[row * read..][..read].to_vec();
            let mut ended = false;
            while uncached.len() < len.size() {
                let shape = (Batch::new(1), SeqLen::new(uncached.len()).unwrap());
                let ids = TokenIds::from_ids(&uncached, None, shape).unwrap();
                let logits = model.forward(&ids, NoneTape).unwrap();
                let last = select(logits, axis::<SeqLen>(), uncached.len() - 1).unwrap();
                let best = Sampler::greedy().choose_each(&last).unwrap()[0];
                uncached.push(if ended { end } else { best }.value());
                ended |= best == end;
            }
            prop_assert_eq!(completed, uncached);
        }
    }
}

#[test]
fn equal_seeds_sample_equal_text_and_other_seeds_do_not() {
    let model = DecoderOnly::<NanoGptModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    let prompt = TokenIds::from_ids(&[1, 2, 3, 4], None, (Batch::new(2), SeqLen::new(2).unwrap()));
    let prompt = prompt.unwrap();
    let text = |seed| {
        let mut sampler = Sampler::with_temperature(1.0, seed).unwrap();
        generate_from_prompt(&model, &prompt, None, MaxSeqLen, &mut sampler).unwrap()
    };
    assert_eq!(text(1).as_slice(), text(1).as_slice());
    assert_ne!(text(1).as_slice(), text(2).as_slice());
    assert_eq!(text(1).pad_token_id(), None);
}

#[test]
fn the_cache_refuses_tokens_past_the_maximum_length() {
    let model = DecoderOnly::<NanoGptModel, f32, AutoDevice>::build(&device());
    let mut cache = model.cache(Batch::new(1)).unwrap();
    let ids = |rows: usize, len| {
        let shape = (Batch::new(rows), SeqLen::new(len).unwrap());
        TokenIds::from_ids(&vec![0; rows * len], None, shape).unwrap()
    };
    model.all_logits(&ids(1, 10), &mut cache).unwrap();
    let error = model.all_logits(&ids(1, 3), &mut cache).unwrap_err();
    assert_eq!(error.to_string(), "cache: SeqLen=3 from 10 on is not inside MaxSeqLen=12");
    let error = model.all_logits(&ids(2, 1), &mut cache).unwrap_err();
    assert_eq!(error.to_string(), "cache: `Batch` is 1 in the cache and 2 in the tokens");
    // A refused call leaves the cache unchanged.
    assert_eq!(format!("{cache:?}"), "Cache (Batch=1, 10 of MaxSeqLen=12)");
    assert!(model.all_logits(&ids(1, 2), &mut cache).is_ok());
}

#[test]
fn a_prompt_longer_than_the_requested_length_is_an_error() {
    let model = DecoderOnly::<NanoGptModel, f32, AutoDevice>::build(&device());
    let shape = (Batch::new(1), SeqLen::new(4).unwrap());
    let prompt = TokenIds::from_ids(&[0; 4], None, shape).unwrap();
    let mut sampler = Sampler::greedy();
    let complete =
        |len, sampler: &mut _| generate_from_prompt(&model, &prompt, None, SeqLen::new(len).unwrap(), sampler);
    assert_eq!(
        complete(3, &mut sampler).unwrap_err().to_string(),
        "generate: SeqLen=4 from 0 on is not inside SeqLen=3"
    );
    assert_eq!(complete(4, &mut sampler).unwrap().as_slice(), [0; 4]);
}
