//! *Another annotated transformer*: the encoder-decoder that its author trains to do rot13.
//!
//! Its layers are those of [`nn`](crate::nn) in the style [`Annotated`]: the post's `MultiHeadAttention`
//! is [`MHAttention`](crate::nn::MHAttention), its `AddAndNorm` the `norm` of each sublayer, its
//! `FeedForward` [`FeedForward`](crate::nn::FeedForward), its `EncoderDecoderTransformer`
//! [`LM`](crate::nn::LM). `examples/train_rot13` is its last section.

use crate::{
    mask::PadSourceKeys,
    nn::{PowerOfWidth, Sinusoidal, Style},
    ops::{MaskedLogit, Relu},
};

/// The style of *Another annotated transformer*: ReLU, sinusoidal positions added to embeddings that
/// are scaled by the root of their width, attention with biases and a head size of its own.
///
/// ```
/// use typed_transformer::{models::another_annotated::Annotated, nn::Module, prelude::*};
/// dims! { pub EmbedDim = 3; pub NumHeads = 2; pub HeadDim = 2; pub HiddenDim = 1; }
///
/// pub struct Small;
/// impl Arch for Small {
///     type NumHeads = NumHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Style = Annotated;
/// }
/// // The number that the post prints for attention alone.
/// type Attention = MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, Small, f32, Cpu>;
/// const _: () = assert!(Attention::NUM_PARAMS == 63);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Annotated;

impl Style for Annotated {
    type Activation = Relu;
    type Positions = Sinusoidal;
    type Padding = PadSourceKeys;
    const ATTENTION_BIAS: bool = true;
    const MASKED_LOGIT: MaskedLogit = MaskedLogit::Minus(10_000.0);
    const EMBEDDING_SCALE: PowerOfWidth = PowerOfWidth::Sqrt;
    const EMBEDDING_DEVIATION: PowerOfWidth = PowerOfWidth::InverseSqrt;
    const EMBEDDING_NORM: bool = false;
    const NORM_EPSILON: f64 = 1e-6;
}
