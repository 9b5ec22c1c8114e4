//! The layers of one process on ranks: cached steps, attention weights, layers with a gate and with shared heads, and a
//! model that no `Distributed` has made.

use crate::recorded::OwnTape;
use crate::tensor_parallel_models::{Compared, Loss, assert_close, check};
use std::ops::Range;
use typed_transformer::generate::{Sampler, generate_from_prompt};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::models::transformer_from_scratch::FromScratch;
use typed_transformer::nn::{Autoregressive, GroupedKeyValueCache};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{ConstRankAxis, Ranks};
use typed_transformer::tensor_parallel::{Distributed, DividesLayersOf, OnRanks, Sharded};

ranks! { One = 1; Two = 2; Four = 4; }
dims! {
    VocabSize = 11; MaxSeqLen = 9; EmbedDim = 8; NumKeyValueHeads = 4; GroupSize = 2; HeadDim = 6; HiddenDim = 12;
    NumLayers = 2; Batch; SrcLen <= MaxSeqLen; SeqLen <= MaxSeqLen;
}
type NumHeads = Product<NumKeyValueHeads, GroupSize>;

struct Small;
impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = NanoGpt;
    const FEED_FORWARD_EXTRA_LAYERS: usize = 1;
}
impl GroupedQuery for Small {
    type NumKeyValueHeads = NumKeyValueHeads;
    type GroupSize = GroupSize;
}
impl SingleStack for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}
impl Seq2Seq for Small {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
}

const ROWS: usize = 2;

/// Some positions of two sequences.
fn ids<Len: Dim, V: ConstDim>(positions: Range<usize>, len: Len) -> TokenIds<Batch, Len, V> {
    let id = |row: usize, position: usize| (7 * row + 5 * position + 3) % V::SIZE;
    let rows = (0..ROWS).flat_map(|row| positions.clone().map(move |position| id(row, position)));
    TokenIds::from_ids(&rows.collect::<Vec<_>>(), None, (Batch::new(ROWS), len)).unwrap()
}

fn step(positions: Range<usize>) -> TokenIds<Batch, SeqLen, VocabSize> {
    let len = SeqLen::new(positions.len()).unwrap();
    ids(positions, len)
}

fn source() -> TokenIds<Batch, SrcLen, VocabSize> {
    ids(2..7, SrcLen::new(5).unwrap())
}

const STEPS: [Range<usize>; 4] = [0..3, 3..4, 4..6, 6..7];

/// The logits of all steps, by a model with a cache.
fn logits_of_steps<Model>(model: &Model) -> Vec<f32>
where
    Model: Autoregressive<Batch, f32, Cpu, VocabSize = VocabSize>,
{
    let mut cache = model.cache(Batch::new(ROWS)).unwrap();
    let steps = STEPS.map(|positions| model.all_logits(&step(positions), &mut cache).unwrap().as_vec());
    steps.concat()
}

/// Runs a check on 1, 2 and 4 ranks.
macro_rules! on_ranks {
    ($check:ident $(, $argument:expr)*) => {
        $check::<One>($($argument),*);
        $check::<Two>($($argument),*);
        $check::<Four>($($argument),*);
    };
}

fn on_each<Tp: ConstRankAxis>(check: impl Fn(&Ranks<Tp>) + Sync) {
    Ranks::<Tp>::in_threads(Tp::EXPECTED_SIZE.unwrap(), |ranks| check(ranks));
}

#[test]
fn a_decoder_on_ranks_decodes_step_by_step_as_in_one_process() {
    let whole = DecoderOnly::<Small>::build(&Cpu::seed_from_u64(4));
    let expected = logits_of_steps(&whole);
    let prompt = step(0..3);
    let text = generate_from_prompt(&whole, &prompt, None, MaxSeqLen, &mut Sampler::greedy()).unwrap();
    fn compare<Tp: DividesLayersOf<Small>>(
        whole: &DecoderOnly<Small>,
        expected: &[f32],
        text: &TokenIds<Batch, MaxSeqLen, VocabSize>,
    ) {
        on_each::<Tp>(|ranks| {
            type Part<Tp> = DecoderOnly<OnRanks<Small, Tp>>;
            let model = Distributed::<Part<Tp>, Tp>::from_whole(whole, &Cpu::default(), ranks).unwrap();
            assert_close(&logits_of_steps::<Part<Tp>>(&model), expected, 1e-5, "the logits of steps");
            let written = generate_from_prompt(&model, &step(0..3), None, MaxSeqLen, &mut Sampler::greedy());
            assert_eq!(written.unwrap().as_slice(), text.as_slice());
            let copy = ranks.replicate(whole.clone()).unwrap();
            let written = generate_from_prompt(&copy, &step(0..3), None, MaxSeqLen, &mut Sampler::greedy());
            assert_eq!(written.unwrap().as_slice(), text.as_slice());
            // A rank keeps the keys of its heads alone.
            let cache = Autoregressive::<Batch, f32, Cpu>::cache(&*model, Batch::new(ROWS)).unwrap();
            let [_, _, columns] = cache.layers[0].keys().shape().concrete();
            assert_eq!(columns * ranks.size(), NumHeads::SIZE * HeadDim::SIZE);
        });
    }
    on_ranks!(compare, &whole, &expected, &text);
}

#[test]
fn an_encoder_decoder_on_ranks_decodes_step_by_step_as_in_one_process() {
    let whole = LM::<Small>::build(&Cpu::seed_from_u64(4));
    let expected = logits_of_steps(&whole.encode(&source()).unwrap());
    fn compare<Tp: DividesLayersOf<Small>>(whole: &LM<Small>, expected: &[f32]) {
        on_each::<Tp>(|ranks| {
            let model = Distributed::<LM<OnRanks<Small, Tp>>, Tp>::from_whole(whole, &Cpu::default(), ranks).unwrap();
            let logits = logits_of_steps(&model.encode(&source()).unwrap());
            assert_close(&logits, expected, 1e-5, "the logits of steps");
        });
    }
    on_ranks!(compare, &whole, &expected);
}

#[test]
fn an_encoder_on_ranks_is_that_of_one_process() {
    let whole = EncoderOnly::<Small>::build(&Cpu::seed_from_u64(4));
    let expected = whole.pooled(&source(), NoneTape).unwrap().as_vec();
    fn compare<Tp: DividesLayersOf<Small>>(whole: &EncoderOnly<Small>, expected: &[f32]) {
        on_each::<Tp>(|ranks| {
            let device = Cpu::default();
            let model = Distributed::<EncoderOnly<OnRanks<Small, Tp>>, Tp>::from_whole(whole, &device, ranks).unwrap();
            assert_close(&model.pooled(&source(), NoneTape).unwrap().as_vec(), expected, 1e-5, "the features");
        });
    }
    on_ranks!(compare, &whole, &expected);
}

/// [`Small`] with a scale of attention by the width of all heads.
struct ScaledByWidth;
impl Arch for ScaledByWidth {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = FromScratch;
}
impl SingleStack for ScaledByWidth {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

#[test]
fn the_attention_weights_of_a_rank_are_those_of_its_heads() {
    check_attention_weights::<Small>();
    check_attention_weights::<ScaledByWidth>();
}

fn check_attention_weights<Config>()
where
    Config: SingleStack<NumHeads: ConstDim, HiddenDim: ConstDim, VocabSize = VocabSize, MaxSeqLen = MaxSeqLen>,
    Four: DividesLayersOf<Config>,
{
    let whole = DecoderOnly::<Config>::build(&Cpu::seed_from_u64(4));
    let weights_of_head = |weights: &[f32], row: usize, head: usize, heads: usize| {
        weights.chunks(7 * 7).nth(row * heads + head).unwrap().to_vec()
    };
    let ids = step(0..7);
    let expected = whole.attention_weights(&ids).unwrap()[1].as_vec();
    on_each::<Four>(|ranks| {
        let part = Distributed::<DecoderOnly<OnRanks<Config, Four>>, Four>::from_whole(&whole, &Cpu::default(), ranks);
        let found = part.unwrap().attention_weights(&ids).unwrap()[1].as_vec();
        for (row, head) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let found = weights_of_head(&found, row, head, 2);
            assert_close(&found, &weights_of_head(&expected, row, 2 * ranks.rank() + head, 8), 1e-5, "the weights");
        }
    });
}

#[test]
fn a_model_that_no_distributed_has_made_says_that_it_has_no_ranks() {
    let seed = || Cpu::seed_from_u64(4);
    let error = DecoderOnly::<OnRanks<Small, Two>>::build(&seed()).forward(&step(0..3), NoneTape).err().unwrap();
    assert_eq!(
        error.to_string(),
        "enter: the layer has no ranks of `Two`: `Distributed` gives them to a model, and a copy in another dtype or on \
         another device loses them",
    );
    // One rank needs no others.
    let one = DecoderOnly::<OnRanks<Small, One>>::build(&seed()).forward(&step(0..3), NoneTape).unwrap();
    let whole = DecoderOnly::<Small>::build(&seed()).forward(&step(0..3), NoneTape).unwrap();
    assert_eq!(one.as_vec(), whole.as_vec());
}

/// The sublayers of later models.
#[module(output = EmbedDim)]
struct Later<A: GroupedQuery, E, D> {
    attention: GroupedQueryAttention<EmbedDim, CausalMask, A, E, D>,
    feed_forward: GatedFeedForward<EmbedDim, A, E, D>,
}

impl<Tp: DividesLayersOf<Small> + Divides<NumKeyValueHeads>> Sharded<Tp, f64, Cpu>
    for Later<OnRanks<Small, Tp>, f64, Cpu>
{
    type Whole = Later<Small, f64, Cpu>;
}

impl<A: GroupedQuery> Later<A, f64, Cpu> {
    fn forward<T: Tape<f64, Cpu>>(&self, tape: T) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu, T>, OpError> {
        let shape = (Batch::new(ROWS), SeqLen::new(7)?, EmbedDim);
        let x = input(shape).put_tape(tape);
        let padding = PaddingMask::without_padding((shape.0, shape.1));
        self.feed_forward.forward(self.attention.forward(x, &padding)?)
    }

    fn loss(&self) -> Loss<f64> {
        let labels: LabelIds<Batch, SeqLen, EmbedDim> = ids(0..7, SeqLen::new(7).unwrap()).into();
        cross_entropy(self.forward(OwnTape::default()).unwrap(), &labels, Reduction::MeanAll).unwrap()
    }
}

fn input<Len: Dim>(shape: (Batch, Len, EmbedDim)) -> Tensor<(Batch, Len, EmbedDim), f64, Cpu> {
    let count = shape.0.size() * shape.1.size() * EmbedDim::SIZE;
    Cpu::default().tensor(((0..count).map(|i| (i as f64).sin()).collect::<Vec<_>>(), shape))
}

impl<Tp: DividesLayersOf<Small> + Divides<NumKeyValueHeads>> Compared<Tp, f64> for Later<OnRanks<Small, Tp>, f64, Cpu> {
    fn loss(&self, _: &Ranks<Tp>) -> Loss<f64> {
        self.loss()
    }
    fn loss_of_whole(whole: &Self::Whole) -> Loss<f64> {
        whole.loss()
    }
}

#[test]
fn layers_with_a_gate_and_with_shared_heads_train_as_in_one_process() {
    check::<Later<OnRanks<Small, One>, f64, Cpu>, One, f64>(1e-10);
    check::<Later<OnRanks<Small, Two>, f64, Cpu>, Two, f64>(1e-10);
    check::<Later<OnRanks<Small, Four>, f64, Cpu>, Four, f64>(1e-10);
}

#[test]
fn a_block_makes_four_sums_in_a_step() {
    let sent = Ranks::<Two>::in_threads(2, |ranks| {
        let model = Distributed::<DecoderOnly<OnRanks<Small, Two>>, Two>::build(&Cpu::default(), ranks).unwrap();
        let ((inputs, labels), before) = (step(0..7).teacher_forcing(Fin::literal::<0>()), ranks.sent_bytes());
        let loss =
            cross_entropy(model.forward(&inputs, model.recording()).unwrap(), &labels, Reduction::MeanAll).unwrap();
        let _ = loss.backward().unwrap();
        ranks.sent_bytes() - before
    });
    // One after each sublayer, and one before it in the backward pass: queries, keys and values share it. Between the
    // hidden layers, the parts of the columns are gathered, and those of their gradients are summed.
    let positions = ROWS * 7;
    let per_layer = 4 * positions * EmbedDim::SIZE + 2 * positions * HiddenDim::SIZE / 2;
    assert_eq!(sent, [(NumLayers::SIZE * per_layer * size_of::<f32>()) as u64; 2]);
}

#[test]
fn shared_heads_on_ranks_decode_step_by_step() {
    on_each::<Two>(|ranks| {
        let device = Cpu::seed_from_u64(4);
        let model = Distributed::<Later<OnRanks<Small, Two>, f64, Cpu>, Two>::build(&device, ranks).unwrap();
        let x = input((Batch::new(ROWS), Const::<1>, EmbedDim));
        let padding = PaddingMask::without_padding((Batch::new(ROWS), Const::<1>));
        let mut cache =
            GroupedKeyValueCache::<Batch, MaxSeqLen, OnRanks<Small, Two>, f64, Cpu>::new(&device, Batch::new(ROWS))
                .unwrap();
        let cached = model.attention.forward_cached(x.clone(), &mut cache).unwrap();
        assert_close(&cached.as_vec(), &model.attention.forward(x, &padding).unwrap().as_vec(), 1e-12, "the step");
        assert_eq!(cache.keys().shape().concrete()[2], NumKeyValueHeads::SIZE / 2 * HeadDim::SIZE);
    });
}
