//! The attention weights that a model returns are those that it attends with.

use dfdx::tensor::AutoDevice;
use dfdx::{tensor::SampleTensor, tensor_ops::TryMatMul};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::models::{annotated_flax, another_annotated};
use typed_transformer::nn::{Conventions, HasPositionsFor, PositionsInHeads};
use typed_transformer::ops::{merge_heads, split_heads};
use typed_transformer::prelude::*;

dims! {
    Letters = 11; Sounds = 13; MaxSrcLen = 9; MaxTgtLen = 8; SrcLen = 5; TgtLen = 7; EmbedDim = 6;
    Heads = 2; QKDim = 3; VODim = 4; HiddenDim = 10; Three = 3; Two = 2; Batch = 2;
}

/// An architecture with these dimensions and the conventions `S`.
struct Of<S>(std::marker::PhantomData<S>);

impl<S: Conventions<Positions: PositionsInHeads<QKDim>>> Arch for Of<S> {
    type NumHeads = Heads;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Conventions = S;
}

impl<S: Conventions<Positions: PositionsInHeads<QKDim>>> Seq2Seq for Of<S>
where
    Self: HasPositionsFor<EmbedDim>,
{
    type SrcVocab = Letters;
    type TgtVocab = Sounds;
    type MaxSrcLen = MaxSrcLen;
    type MaxTgtLen = MaxTgtLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = Two;
    type NumDecoderLayers = Three;
}

impl<S: Conventions<Positions: PositionsInHeads<QKDim>>> SingleStack for Of<S>
where
    Self: HasPositionsFor<EmbedDim>,
{
    type VocabSize = Letters;
    type MaxSeqLen = MaxSrcLen;
    type EmbedDim = EmbedDim;
    type NumLayers = Three;
}

type Embedded<S> = Tensor<(Batch, S, EmbedDim), f32, AutoDevice>;

fn device() -> AutoDevice {
    AutoDevice::seed_from_u64(5)
}

fn source() -> TokenIds<Batch, SrcLen, Letters> {
    let ids = [1, 2, 3, 4, 0, 5, 6, 0, 0, 0];
    TokenIds::from_ids(&ids, Some(Fin::literal::<0>()), (Batch, SrcLen)).unwrap()
}

fn target() -> TokenIds<Batch, TgtLen, Sounds> {
    let ids = [1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 0, 0, 0];
    TokenIds::from_ids(&ids, Some(Fin::literal::<0>()), (Batch, TgtLen)).unwrap()
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} and {expected}");
    }
}

/// The input of a sublayer: `norm(x)` in a pre-norm model, otherwise `x`.
fn sublayer_input<S: Conventions<Positions: PositionsInHeads<QKDim>>>(
    norm: &Option<Norm<EmbedDim, Of<S>, f32, AutoDevice>>,
    x: Embedded<SrcLen>,
) -> Embedded<SrcLen> {
    match norm {
        Some(norm) if S::NORM_PLACEMENT == typed_transformer::nn::NormPlacement::Pre => norm.forward(x).unwrap(),
        _ => x,
    }
}

fn add_residual_and_norm<S: Conventions<Positions: PositionsInHeads<QKDim>>>(
    norm: &Option<Norm<EmbedDim, Of<S>, f32, AutoDevice>>,
    x: Embedded<SrcLen>,
    attended: Embedded<SrcLen>,
) -> Embedded<SrcLen> {
    let sum = residual(x, attended).unwrap();
    match norm {
        Some(norm) if S::NORM_PLACEMENT != typed_transformer::nn::NormPlacement::Pre => norm.forward(sum).unwrap(),
        _ => sum,
    }
}

/// The output of self-attention is its values, weighted by the attention weights.
fn check_output_is_weighted_values<S: Conventions<Positions: PositionsInHeads<QKDim>>, Mask: MaskKind>() {
    let device = device();
    let layer = SelfAttention::<EmbedDim, Mask, Of<S>, f32, AutoDevice>::build(&device);
    let x: Embedded<SrcLen> = device.sample_normal();
    let padding = source().padding_mask();
    let weights = layer.attention_weights(x.clone(), &padding).unwrap();

    let values = layer.attention.value_proj.forward(sublayer_input(&layer.norm, x.clone())).unwrap();
    let values: Tensor<(Batch, Heads, SrcLen, VODim), _, _> = split_heads(values).unwrap();
    let attended = merge_heads(weights.matmul(values)).unwrap();
    let attended = layer.attention.output_proj.forward(attended).unwrap();
    let expected = add_residual_and_norm(&layer.norm, x.clone(), attended);
    assert_close(&expected.as_vec(), &layer.forward(x, &padding).unwrap().as_vec());
}

#[test]
fn the_output_is_the_values_weighted_by_the_attention_weights() {
    check_output_is_weighted_values::<TypedTransformer, NoMask>();
    check_output_is_weighted_values::<TypedTransformer, CausalMask>();
    check_output_is_weighted_values::<NanoGpt, CausalMask>();
    check_output_is_weighted_values::<another_annotated::Annotated, NoMask>();
    check_output_is_weighted_values::<annotated_flax::AnnotatedFlax, NoMask>();
}

fn check_weights_of_every_layer<S: Conventions<Positions: PositionsInHeads<QKDim>>>()
where
    Of<S>: HasPositionsFor<EmbedDim>,
{
    let model = LM::<Of<S>, f32, AutoDevice>::build(&device());
    let (source, target) = (source(), target());
    let weights = model.attention_weights(&source, &target).unwrap();
    assert_eq!((weights.source.len(), weights.target.len()), (2, 3));

    // The same layers, called one by one.
    let (of_source, of_target) = (source.padding_mask(), target.padding_mask());
    let mut x = model.encoder.embedder.forward(&source, NoneTape).unwrap();
    for (shown, layer) in weights.source.iter().zip(&model.encoder.encoder.layers) {
        let own = layer.self_attention.attention_weights(x.clone(), &of_source).unwrap();
        assert_eq!(shown.as_vec(), own.as_vec());
        x = layer.forward(x, &of_source).unwrap();
    }
    let encoded = model.encoder.forward(&source, NoneTape).unwrap();
    let mut y = model.decoder.embedder.forward(&target, NoneTape).unwrap();
    for (i, layer) in model.decoder.decoder.layers.iter().enumerate() {
        let to_itself = weights.target[i].as_vec();
        for (at, row) in to_itself.chunks(TgtLen::SIZE).enumerate() {
            let (sequence, q) = (at / (Heads::SIZE * TgtLen::SIZE), at % TgtLen::SIZE);
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            // A padding query sees no key, so its weights are uniform.
            if target.as_slice()[sequence * TgtLen::SIZE + q] != 0 {
                assert!(row[q + 1..].iter().all(|ahead| *ahead == 0.0));
            }
        }
        if layer.norm.is_none() {
            let nothing_hidden = PaddingMask::without_padding((Batch, TgtLen));
            let own = match <S::PaddingRule as typed_transformer::mask::PaddingRule>::MASKS_TARGET_PADDING {
                true => &of_target,
                false => &nothing_hidden,
            };
            let attended = layer.self_attention.forward(y.clone(), own).unwrap();
            let cross = &layer.cross_attention;
            let cross = cross.attention_weights(attended, encoded.clone(), &of_target, &of_source);
            let shown = weights.target_to_source[i].as_vec();
            assert_eq!(shown, cross.unwrap().as_vec());
            // The second source sequence ends in three positions of padding.
            let of_second = &shown[shown.len() / 2..];
            for row in of_second.chunks(SrcLen::SIZE).take(4) {
                assert_eq!(row[2..], [0.0; 3]);
            }
        }
        y = layer.forward(y, encoded.clone(), &of_target, &of_source).unwrap();
    }
}

#[test]
fn a_model_returns_the_attention_weights_of_every_layer() {
    check_weights_of_every_layer::<TypedTransformer>();
    check_weights_of_every_layer::<NanoGpt>();
    check_weights_of_every_layer::<another_annotated::Annotated>();
}

#[test]
fn a_decoder_only_model_does_not_attend_to_later_positions() {
    let model = DecoderOnly::<Of<NanoGpt>, f32, AutoDevice>::build(&device());
    let weights = model.attention_weights(&source()).unwrap();
    assert_eq!(weights.len(), 3);
    let mut x = model.embedder.forward(&source(), NoneTape).unwrap();
    let nothing_hidden = PaddingMask::without_padding((Batch, SrcLen));
    for (shown, layer) in weights.iter().zip(&model.decoder.layers) {
        let own = layer.self_attention.attention_weights(x.clone(), &nothing_hidden).unwrap();
        assert_eq!(shown.as_vec(), own.as_vec());
        for (i, row) in shown.as_vec().chunks(SrcLen::SIZE).enumerate() {
            assert!(row[i % SrcLen::SIZE + 1..].iter().all(|ahead| *ahead == 0.0));
        }
        x = layer.forward(x, &nothing_hidden).unwrap();
    }
}

#[test]
fn different_batch_sizes_are_an_error() {
    dims! { Many; }
    let model = LM::<Of<TypedTransformer>, f32, AutoDevice>::build(&device());
    let source = TokenIds::<_, SrcLen, Letters>::from_ids(&[1; 10], None, (Many::new(2), SrcLen));
    let target = TokenIds::<_, TgtLen, Sounds>::from_ids(&[1; 21], None, (Many::new(3), TgtLen));
    let weights = model.attention_weights(&source.unwrap(), &target.unwrap());
    let error = weights.err().unwrap().to_string();
    assert!(error.contains("`Many` is"), "{error}");
}
