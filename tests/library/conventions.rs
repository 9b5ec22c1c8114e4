//! Each convention has its effect, and models with a single stack learn.

use crate::fixture::*;
use crate::numbers::{assert_close, device, random_in};
use crate::recorded::{OwnTape, of_model};
use dfdx::shapes::Axis;
use dfdx::tensor::AutoDevice;
use dfdx::tensor::*;
use dfdx::tensor_ops::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use typed_transformer::backend::Tape;
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::{
    AttentionProjection, Block, Conventions, FeedForwardProjection, Linear, NormPlacement, Projection,
};
use typed_transformer::ops;
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, update};

model!(DroppingModel: NanoGpt, FEED_FORWARD_DROPOUT = 0.5);

const PAD: Fin<VocabSize> = Fin::literal::<10>();

fn ids<const S: usize>(rows: &[[usize; S]]) -> TokenIds<Batch, SeqLen, VocabSize> {
    let shape = (Batch::new(rows.len()), SeqLen::new(S).unwrap());
    TokenIds::from_ids(rows.as_flattened(), Some(PAD), shape).unwrap()
}

// ---- Norm placement ----

type Vectors = Tensor<(Const<2>, Const<3>, EmbedDim), f64, AutoDevice>;
type TwoBlocks<A> = typed_transformer::nn::BlockStack<EmbedDim, NumLayers, CausalMask, A, f64, AutoDevice>;

/// A stack whose sublayers add nothing, so that only its norms act. The norms have random weights.
fn only_norms<A: Arch>() -> TwoBlocks<A> {
    let mut rng = StdRng::seed_from_u64(1);
    let mut stack = TwoBlocks::<A>::build(&device());
    let biases = |bias: &mut Option<Tensor<_, f64, AutoDevice>>| {
        bias.iter_mut().for_each(|bias| bias.fill_with_zeros());
    };
    for block in &mut stack.layers {
        let attention = &mut block.self_attention;
        attention.attention.output_proj.weight.fill_with_zeros();
        biases(&mut attention.attention.output_proj.bias);
        block.feed_forward.output.weight.fill_with_zeros();
        biases(&mut block.feed_forward.output.bias);
        let norms = [&mut attention.norm, &mut block.feed_forward.norm, &mut block.norm];
        for norm in norms.into_iter().flatten() {
            norm.weight = random_in(0.5..1.5, &mut rng, (EmbedDim,));
        }
    }
    if let Some(norm) = &mut stack.norm {
        norm.weight = random_in(0.5..1.5, &mut rng, (EmbedDim,));
    }
    stack
}

fn output<A: Arch>(stack: &TwoBlocks<A>, input: &Vectors) -> Vec<f64> {
    let padding = PaddingMask::without_padding((Const, Const));
    stack.forward(input.clone(), &padding).unwrap().as_vec()
}

#[test]
fn post_norm_normalizes_after_each_sublayer() {
    let stack = only_norms::<FlaxModel>();
    assert!(stack.norm.is_none());
    let input: Vectors = device().sample_normal();
    let expected = stack.layers.iter().fold(input.clone(), |x, block| {
        assert!(block.norm.is_none());
        let (attention, feed_forward) = (&block.self_attention.norm, &block.feed_forward.norm);
        [attention, feed_forward].into_iter().flatten().fold(x, |x, norm| {
            assert!(norm.bias.is_none());
            ops::layer_norm(x, &norm.weight, None, 1e-6).unwrap()
        })
    });
    assert_close(&output(&stack, &input), &expected.as_vec(), 1e-12);
}

#[test]
fn pre_norm_leaves_the_residual_alone_until_the_end() {
    let stack = only_norms::<NanoGptModel>();
    let input: Vectors = device().sample_normal();
    let last = stack.norm.as_ref().unwrap();
    let expected = ops::layer_norm(input.clone(), &last.weight, None, 1e-5).unwrap();
    assert_close(&output(&stack, &input), &expected.as_vec(), 1e-12);
    // The input of a sublayer is normalized, so its magnitude has no effect.
    let block = Block::<EmbedDim, CausalMask, NanoGptModel, f64, AutoDevice>::build(&device());
    let padding = PaddingMask::without_padding((Const::<2>, Const::<3>));
    let added = |x: Vectors| (block.self_attention.forward(x.clone(), &padding).unwrap() - x).as_vec();
    let (small, large) = (added(input.clone() * 1e3), added(input * 1e6));
    for (small, large) in small.iter().zip(large) {
        assert!((small - large).abs() < 1e-6, "{small} {large}");
    }
}

#[test]
fn a_shared_norm_follows_every_sublayer_of_a_block() {
    let stack = only_norms::<LearningModel>();
    let input: Vectors = device().sample_normal();
    let expected = stack.layers.iter().fold(input.clone(), |x, block| {
        assert!(block.self_attention.norm.is_none() && block.feed_forward.norm.is_none());
        let weight = &block.norm.as_ref().unwrap().weight;
        ops::rms_norm(ops::rms_norm(x, weight, 1e-6).unwrap(), weight, 1e-6).unwrap()
    });
    assert_close(&output(&stack, &input), &expected.as_vec(), 1e-12);
}

#[test]
fn an_encoder_decoder_works_with_every_norm_placement() {
    macro_rules! seq2seq {
        ($name:ident, $style:ident, $placement:ident, $norms:expr) => {
            pub struct $style;
            impl Conventions for $style {
                type Activation = ops::Relu;
                type Positions = typed_transformer::nn::Sinusoidal;
                type PaddingRule = PadQueriesAndKeys;
                const NORM_PLACEMENT: NormPlacement = NormPlacement::$placement;
                const EMBEDDING_NORM: bool = false;
                const TIED_LOGITS: bool = true;
            }
            model!($name: $style);
            let model = LM::<$name, f64, AutoDevice>::build(&device());
            let shape = (Batch::new(1), SrcLen::new(4).unwrap());
            let source = TokenIds::from_ids(&[1, 2, 3, 4], Some(Fin::literal::<10>()), shape).unwrap();
            let logits = |target| {
                let output = model.forward(&source, &ids(&[target]), NoneTape).unwrap();
                output.logit_output.as_vec()
            };
            let (one, other) = (logits([5, 6, 7]), logits([5, 6, 8]));
            assert!(one.iter().all(|x| x.is_finite()));
            assert_eq!(one[..2 * VocabSize::SIZE], other[..2 * VocabSize::SIZE]);
            assert_ne!(one[2 * VocabSize::SIZE..], other[2 * VocabSize::SIZE..]);
            let summary = typed_transformer::nn::Summary::of::<LM<$name, f64, AutoDevice>>();
            let norms = summary.rows.iter().filter(|row| row.module == "Norm");
            assert_eq!(norms.count(), $norms);
        };
    }
    seq2seq!(Post, PostStyle, Post, 2 * 2 + 2 * 3);
    seq2seq!(Pre, PreStyle, Pre, 2 * 2 + 1 + 2 * 3 + 1);
    seq2seq!(OneEach, OneEachStyle, PostShared, 2 + 2);
}

// ---- Logits, embeddings, attention, feed-forward ----

#[test]
fn tied_logits_use_the_embedding_table() {
    let mut model = DecoderOnly::<NanoGptModel, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(2));
    assert!(model.logit.weight.is_none() && model.logit.bias.is_none());
    let (ids, labels) = (ids(&[[1, 2, 1]]), LabelIds::from(ids(&[[2, 1, 4]])));
    let embeds = model.embedder.forward(&ids, NoneTape).unwrap();
    let outputs = model.decoder.forward(embeds, &ids.padding_mask()).unwrap();
    let table = &model.embedder.token_embedder.weight;
    let expected = ops::linear(outputs, table, None).unwrap();
    assert_close(&model.forward(&ids, NoneTape).unwrap().as_vec(), &expected.as_vec(), 1e-12);

    // The table is used twice; its gradient is the sum of both.
    let loss = |model: &DecoderOnly<NanoGptModel, f64, AutoDevice>| {
        let logits = model.forward(&ids, OwnTape::default()).unwrap();
        cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
    };
    let table = model.embedder.token_embedder.weight.clone();
    let gradient = loss(&model).backward().unwrap().of(&table).unwrap().as_vec();
    for i in 0..gradient.len() {
        let mut at = |step: f64| {
            let mut elements = table.as_vec();
            elements[i] += step;
            model.embedder.token_embedder.weight.copy_from(&elements);
            loss(&model).array()
        };
        let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert!((slope - gradient[i]).abs() < 1e-6, "{slope} {}", gradient[i]);
    }
}

#[test]
fn embeddings_are_scaled_before_positions_are_added() {
    let model = EncoderOnly::<FlaxModel, f64, AutoDevice>::build(&device());
    let ids = ids(&[[3, 0, 3]]);
    let tokens = model.embedder.token_embedder.forward(&ids, NoneTape).unwrap();
    let positions = ops::sinusoidal_positions(&device(), ids.shape().1, EmbedDim).unwrap();
    let expected = ops::add_positions(ops::scale(tokens, 1.0 / 6f64.sqrt()).unwrap(), positions).unwrap();
    let embeds = model.embedder.forward(&ids, NoneTape).unwrap();
    assert_close(&embeds.as_vec(), &expected.as_vec(), 1e-12);
}

#[test]
fn attention_is_scaled_by_head_width_or_embedding_width() {
    let device = device();
    type Heads = (Const<2>, Const<4>, Const<3>, Const<5>);
    let (query, key): (Tensor<Heads, f64, _>, Tensor<Heads, f64, _>) = (device.sample_normal(), device.sample_normal());
    let mask = AttentionMask::from_fn((Const, Const, Const), |_, q, k| k <= q);
    let weights = |query, scale| {
        attention_weights(query, key.clone(), &mask, AttentionOptions { scale, ..AttentionOptions::default() })
            .unwrap()
            .as_vec()
    };
    // With four heads the scale is half as large.
    assert_close(
        &weights(query.clone(), AttentionScale::EmbedDim),
        &weights(query * 0.5, AttentionScale::HeadDim),
        1e-12,
    );
}

#[test]
fn initial_weights_have_the_standard_deviation_of_the_conventions() {
    fn deviation(elements: Vec<f64>) -> f64 {
        (elements.iter().map(|x| x * x).sum::<f64>() / elements.len() as f64).sqrt()
    }
    type Wide<P> = Projection<Const<80>, Const<90>, P, f64, AutoDevice>;
    let device = AutoDevice::seed_from_u64(3);
    let gpt = [
        Wide::<AttentionProjection<NanoGptModel>>::build(&device).weight.as_vec(),
        Wide::<FeedForwardProjection<NanoGptModel>>::build(&device).weight.as_vec(),
    ];
    for weight in gpt {
        assert!((0.019..0.021).contains(&deviation(weight)));
    }
    let uniform = Wide::<AttentionProjection<TypedModel>>::build(&device).weight.as_vec();
    assert!(uniform.iter().all(|w| w.abs() <= 1.0 / 80f64.sqrt()));
    assert!((0.06..0.07).contains(&deviation(uniform)));
}

#[test]
fn feed_forward_dropout_is_active_only_in_training() {
    let model = DecoderOnly::<DroppingModel, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    let ids = ids(&[[1, 2, 3]]);
    let inference = || model.forward(&ids, NoneTape).unwrap().as_vec();
    let training = || model.forward(&ids, OwnTape::default()).unwrap().as_vec();
    assert_eq!(inference(), inference());
    assert_ne!(training(), training());
}

// ---- Single stacks: decoder-only and encoder-only ----

#[test]
fn a_decoder_only_model_ignores_later_positions() {
    fn check<M: SingleStack<VocabSize = VocabSize, MaxSeqLen = MaxSeqLen>>() {
        let model = DecoderOnly::<M, f64, AutoDevice>::build(&device());
        let one = model.forward(&ids(&[[1, 2, 3]]), NoneTape).unwrap().as_vec();
        let other = model.forward(&ids(&[[1, 2, 9]]), NoneTape).unwrap().as_vec();
        assert_eq!(one[..2 * VocabSize::SIZE], other[..2 * VocabSize::SIZE]);
        assert_ne!(one[2 * VocabSize::SIZE..], other[2 * VocabSize::SIZE..]);
        // Padding after the sequence has no effect.
        let padded = model.forward(&ids(&[[1, 2, 3, 10, 10]]), NoneTape).unwrap().as_vec();
        assert_close(&one, &padded[..3 * VocabSize::SIZE], 1e-12);
        assert!(padded.iter().all(|x| x.is_finite()));
    }
    check::<TypedModel>();
    check::<NanoGptModel>();
    check::<LearningModel>();
}

#[test]
fn pooling_ignores_padding() {
    fn check<M: SingleStack<VocabSize = VocabSize, MaxSeqLen = MaxSeqLen>>() {
        let model = EncoderOnly::<M, f64, AutoDevice>::build(&device());
        let short = model.pooled(&ids(&[[1, 2, 3]]), NoneTape).unwrap().as_vec();
        let padded = ids(&[[1, 2, 3, 10, 10], [10; 5]]);
        let padded = model.pooled(&padded, NoneTape).unwrap().as_vec();
        assert_close(&short, &padded[..short.len()], 1e-12);
        assert!(padded[short.len()..].iter().all(|x| *x == 0.0));
    }
    check::<TypedModel>();
    check::<FlaxModel>();
}

/// Classifies a sequence.
#[module]
struct Classifier<M: SingleStack, Classes: ConstDim, E, D> {
    features: EncoderOnly<M, E, D>,
    logit: Linear<M::EmbedDim, Classes, E, D>,
}

impl<M: SingleStack, Classes: ConstDim, E: Real, D: Backend<E>> Classifier<M, Classes, E, D> {
    /// One logit per class, as a sequence of one position.
    fn forward<B: Dim, S: AtMost<M::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        ids: &TokenIds<B, S, M::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, Const<1>, Classes), E, D, T>, OpError> {
        let pooled = self.features.pooled(ids, tape)?;
        let one_position = (ids.shape().0, Const::<1>, M::EmbedDim::default());
        let pooled = pooled.broadcast_like::<_, Axis<1>>(&one_position);
        self.logit.forward(pooled)
    }
}

#[test]
fn an_encoder_learns_to_classify_rising_and_falling_sequences() {
    dims! { Rising = 2; }
    type Labels = LabelIds<Batch, Const<1>, Rising>;
    fn batch(rng: &mut StdRng, rows: usize) -> (TokenIds<Batch, SeqLen, VocabSize>, Labels) {
        let (mut sequences, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let len = rng.gen_range(2..=7);
            let first = rng.gen_range(0..=10 - len);
            let mut sequence: Vec<_> = (first..first + len).map(|id| Fin::new(id).unwrap()).collect();
            let rising = rng.gen_bool(0.5);
            if !rising {
                sequence.reverse();
            }
            sequences.push(sequence);
            classes.push(usize::from(rising));
        }
        let shape = (Batch::new(rows), SeqLen::new(7).unwrap());
        let labels = LabelIds::from_ids(&classes, None, (shape.0, Const)).unwrap();
        (TokenIds::padded(&sequences, PAD, shape).unwrap(), labels)
    }

    let mut rng = StdRng::seed_from_u64(4);
    let mut model = Classifier::<FlaxModel, Rising, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(4));
    let mut adam = Adam::default();
    for _ in 0..400 {
        let (ids, labels) = batch(&mut rng, 32);
        let logits = model.forward(&ids, OwnTape::default()).unwrap();
        let loss: Tensor<(), _, _, _> = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        let gradients = of_model(loss, &model).backward().unwrap();
        update(&mut model, gradients, &mut adam, 3e-3, 1.0).unwrap();
    }
    let (ids, labels) = batch(&mut rng, 500);
    let logits = model.forward(&ids, NoneTape).unwrap().as_vec();
    let predicted = logits.chunks(2).map(|logits| usize::from(logits[1] > logits[0]));
    let correct = predicted.zip(labels.as_slice()).filter(|(a, b)| a == *b).count();
    assert!(correct >= 495, "{correct} of 500");
}

#[test]
fn a_decoder_learns_to_count() {
    let mut rng = StdRng::seed_from_u64(5);
    let mut model = DecoderOnly::<NanoGptModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(5));
    let mut adam = Adam::default();
    let mut last = f32::INFINITY;
    for _ in 0..400 {
        let firsts: [usize; 16] = std::array::from_fn(|_| rng.gen_range(0..10));
        let rows = |shift| firsts.map(|first| std::array::from_fn(|i| (first + i + shift) % 10));
        let logits = model.forward(&ids::<6>(&rows(0)), OwnTape::default()).unwrap();
        let loss = cross_entropy(logits, &LabelIds::from(ids::<6>(&rows(1))), Reduction::MeanAll).unwrap();
        last = loss.array();
        let gradients = of_model(loss, &model).backward().unwrap();
        update(&mut model, gradients, &mut adam, 1e-2, 1.0).unwrap();
    }
    assert!(last < 0.05, "{last}");
}
