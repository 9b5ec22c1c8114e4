//! A training step of each model of the crate runs on kernels alone: one operation of dfdx in a pass takes every gradient
//! through dfdx's map, which fills the memory of each with zeros first.

use crate::recorded::OwnTape;
use dfdx::tensor::{PutTape, SampleTensor, SplitTape, Tensor};
use dfdx::tensor_ops::SumTo;
use std::marker::PhantomData;
use typed_transformer::backend::Tape;
use typed_transformer::doctest::{
    Channels, EmbedDim, EvenHeads, Height, HiddenDim, MaxSeqLen, NumLayers, Small, TokenTypes, VocabSize, Width,
};
use typed_transformer::models::annotated_flax::AnnotatedFlax;
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::models::bert::Bert;
use typed_transformer::models::clip::Clip;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::learning_the_transformer::Learning;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::models::t5::T5;
use typed_transformer::models::transformer_from_scratch::FromScratch;
use typed_transformer::models::vit::Vit;
use typed_transformer::nn::{Conventions, GatedFeedForward, PositionsFor, PositionsInHeads, Seq2Seq};
use typed_transformer::ops::{Abs, Activation, detach, full, maximum, mean, minimum, sub};
use typed_transformer::prelude::*;

dims! { Batch; SeqLen <= MaxSeqLen; TgtLen <= MaxSeqLen; HeadDim = 2; }

/// Refuses a loss of operations of dfdx, and runs its backward pass.
#[track_caller]
fn check(loss: Tensor<(), f32, Cpu, OwnTape<f32, Cpu>>) {
    let (value, mut tape) = loss.split_tape();
    assert!(value.array().is_finite());
    assert_eq!(tape.shared().unwrap().num_dfdx_operations(), 0);
    let _ = value.put_tape(tape).backward().unwrap();
}

/// What a decoder reads first.
const START: Fin<VocabSize> = Fin::literal::<1>();

/// Tokens of three sequences; some are padding.
fn tokens<S: AtMost<MaxSeqLen>>(len: S) -> TokenIds<Batch, S, VocabSize> {
    let ids: Vec<usize> = (0..3 * len.size()).map(|i| i * 5 % VocabSize::SIZE).collect();
    TokenIds::from_ids(&ids, Some(Fin::literal::<0>()), (Batch::new(3), len)).unwrap()
}

#[test]
fn an_operation_of_dfdx_is_counted() {
    let x: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().sample_normal();
    let (_, mut tape) = x.put_tape(OwnTape::<f32, Cpu>::default()).square().sum::<(), _>().split_tape();
    assert_eq!(tape.shared().unwrap().num_dfdx_operations(), 2);
}

/// As `docs/porting.md` writes them. dfdx's `abs` and `clamp` would take the whole pass off the fast path.
#[test]
fn a_distance_and_a_clipped_number_run_on_kernels() {
    let device = Cpu::default();
    let x: Tensor<(EmbedDim,), f32, Cpu> = device.sample_normal();
    let numbers = x.as_vec();
    let x = x.put_tape(OwnTape::default());
    let (low, high) = (full(&device, (), -0.5).unwrap(), full(&device, (), 0.5).unwrap());
    let clipped = minimum(maximum(x.clone(), &low).unwrap(), &high).unwrap();
    let distance = Abs::apply(x).unwrap();
    assert_eq!(clipped.as_vec(), Vec::from_iter(numbers.iter().map(|x| x.clamp(-0.5, 0.5))));
    assert_eq!(distance.as_vec(), Vec::from_iter(numbers.iter().map(|x| x.abs())));
    check(mean(add(clipped, distance).unwrap()).unwrap());
}

/// As `docs/porting.md` writes it: dfdx computes value and slope without a tape.
#[test]
fn a_function_without_a_kernel_runs_backward_on_kernels() {
    let x: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().sample_normal();
    let sine = || {
        let x = x.clone().put_tape(OwnTape::default());
        let at = detach(&x).unwrap();
        let (value, slope) = (at.clone().sin(), at.clone().cos());
        add(mul(sub(x, &at).unwrap(), &slope).unwrap(), &value).unwrap()
    };
    assert_eq!(sine().as_vec(), x.clone().sin().as_vec());
    check(mean(sine()).unwrap());
    let gradient = mean(sine()).unwrap().backward().unwrap().of(&x).unwrap();
    for (found, slope) in gradient.as_vec().into_iter().zip(x.cos().as_vec()) {
        assert!((found * EmbedDim::SIZE as f32 - slope).abs() < 1e-5, "{found}, {slope}");
    }
}

#[test]
fn the_models_of_published_weights_run_on_kernels() {
    let (device, len) = (Cpu::default(), SeqLen::new(5).unwrap());
    let (ids, labels) = tokens(len).teacher_forcing(START);
    let loss = Reduction::MeanPerSequence;

    let model = Gpt2::<Small, f32, Cpu>::build(&device);
    check(cross_entropy(model.forward(&ids, OwnTape::default()).unwrap(), &labels, loss).unwrap());
    let model = Llama::<Small, f32, Cpu>::build(&device);
    check(cross_entropy(model.forward(&ids, OwnTape::default()).unwrap(), &labels, loss).unwrap());
    let model = Mixtral::<Small, f32, Cpu>::build(&device);
    check(cross_entropy(model.forward(&ids, OwnTape::default()).unwrap(), &labels, loss).unwrap());
    let model = T5::<Small, f32, Cpu>::build(&device);
    let (inputs, labels) = tokens(TgtLen::new(4).unwrap()).teacher_forcing(START);
    check(cross_entropy(model.forward(&ids, &inputs, OwnTape::default()).unwrap(), &labels, loss).unwrap());

    let model = Bert::<Small, f32, Cpu>::build(&device);
    let types: Vec<usize> = (0..15).map(|i| i % TokenTypes::SIZE).collect();
    let types: TokenIds<Batch, SeqLen, TokenTypes> = TokenIds::from_ids(&types, None, (Batch::new(3), len)).unwrap();
    check(mean(model.pooled(model.forward(&ids, &types, OwnTape::default()).unwrap()).unwrap()).unwrap());
    let model = Vit::<Small, f32, Cpu>::build(&device);
    let images: Tensor<(Batch, Channels, Height, Width), f32, Cpu> =
        device.sample_normal_like(&(Batch::new(3), Channels, Height, Width));
    check(mean(model.pooled(model.forward(images.clone().put_tape(OwnTape::default())).unwrap()).unwrap()).unwrap());
    let model = Clip::<Small, f32, Cpu>::build(&device);
    let texts = model.texts(&ids, OwnTape::default()).unwrap();
    check(model.loss(texts, model.images(images.put_tape(OwnTape::default())).unwrap()).unwrap());
}

/// Conventions whose positions fit the sizes below.
trait Fits: Conventions<Positions: PositionsFor<EmbedDim> + PositionsInHeads<HeadDim>> {}
impl<C: Conventions<Positions: PositionsFor<EmbedDim> + PositionsInHeads<HeadDim>>> Fits for C {}

/// A small model of any conventions.
struct Config<C>(PhantomData<fn() -> C>);
impl<C: Fits> Arch for Config<C> {
    type NumHeads = EvenHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = C;
    const FEED_FORWARD_DROPOUT: f64 = 0.1;
    const ATTENTION_DROPOUT: f64 = 0.1;
}
impl<C: Fits> SingleStack for Config<C> {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}
impl<C: Fits> Seq2Seq for Config<C> {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
}

fn check_conventions<C: Fits>() {
    let (ids, labels) = tokens(SeqLen::new(5).unwrap()).teacher_forcing(START);
    let model = DecoderOnly::<Config<C>, f32, Cpu>::build(&Cpu::default());
    check(cross_entropy(model.forward(&ids, OwnTape::default()).unwrap(), &labels, Reduction::MeanAll).unwrap());
    let model = LM::<Config<C>, f32, Cpu>::build(&Cpu::default());
    let (inputs, labels) = tokens(TgtLen::new(4).unwrap()).teacher_forcing(START);
    let output = model.forward(&ids, &inputs, OwnTape::default()).unwrap();
    check(cross_entropy(output.logit_output, &labels, Reduction::MeanPerSequence).unwrap());
    let layer = GatedFeedForward::<EmbedDim, Config<C>, f32, Cpu>::build(&Cpu::default());
    let x: Tensor<(Batch, EmbedDim), f32, Cpu> = Cpu::default().sample_normal_like(&(Batch::new(3), EmbedDim));
    check(mean(layer.forward(x.put_tape(OwnTape::default())).unwrap()).unwrap());
}

#[test]
fn the_models_of_the_posts_run_on_kernels() {
    check_conventions::<TypedTransformer>();
    check_conventions::<Annotated>();
    check_conventions::<AnnotatedFlax>();
    check_conventions::<FromScratch>();
    check_conventions::<Learning>();
    check_conventions::<NanoGpt>();
}
