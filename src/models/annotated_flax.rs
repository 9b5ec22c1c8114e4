//! *Annotated transformer (Flax)*: the encoder of *Attention Is All You Need*, as the text of the
//! notebook describes it.
//!
//! | section of the notebook | here |
//! | --- | --- |
//! | Embedding: `SequenceEmbedding` | [`Embedder`](crate::nn::Embedder), scaled by [`WidthScale::InvSqrt`] |
//! | Positional Encoding: `AbsolutePositionalEncoder` | [`sinusoidal_positions`](crate::ops::sinusoidal_positions), [`Arch::DROPOUT`](crate::nn::Arch::DROPOUT) |
//! | Self-Attention | [`attention`](crate::ops::attention), [`Arch::ATTENTION_DROPOUT`](crate::nn::Arch::ATTENTION_DROPOUT) |
//! | Attention Heads: `MultiHeadAttention` | [`MHAttention`](crate::nn::MHAttention), [`Quotient`](crate::dims::Quotient) |
//! | Layer Normalisation: `LayerNorm` | [`layer_norm`](crate::ops::layer_norm) without a bias |
//! | Residual + Norm Layer: `AddAndNormLayer` | [`NormPlacement::Post`](crate::nn::NormPlacement::Post) |
//! | Feed Forward Layer: `FeedForwardLayer` | [`FeedForward`](crate::nn::FeedForward), [`Arch::FEED_FORWARD_DROPOUT`](crate::nn::Arch::FEED_FORWARD_DROPOUT) |
//! | Gathering the encoder layers: `TransformerEncoder` | [`EncoderLayer`](crate::nn::EncoderLayer), stacked in [`EncoderOnly`](crate::nn::EncoderOnly) |
//!
//! The notebook's code differs from its text in six ways; the encoder here follows the text.
//!
//! - `nn.Dense` takes the number of output columns and then `use_bias`; the notebook passes the sizes of input and
//!   output. So its feed-forward layer has `hidden` columns at its output.
//! - Query, key and value use one projection.
//! - The heads are never merged.
//! - The ReLU comes after both linear layers.
//! - The norm divides by `std + ε`.
//! - The residual connection adds a layer's output to its own norm instead of normalizing the sum of input and output.

use crate::mask::PadSourceKeys;
use crate::nn::{Conventions, Sinusoidal, WidthScale};
use crate::ops::Relu;

/// The conventions of *Annotated transformer (Flax)*: embeddings divided by the square root of their width,
/// sinusoidal positions, attention with biases, ReLU, layer norm without a bias.
///
/// The model at the notebook's sizes:
///
/// ```
/// use typed_transformer::{models::annotated_flax::AnnotatedFlax, nn::Module, prelude::*};
/// dims! {
///     pub VocabSize = 100; pub MaxLen = 100; pub DModel = 20; pub NumHeads = 4; pub FFHidden = 80;
///     pub NumLayers = 6;
/// }
///
/// pub struct Notebook;
/// impl Arch for Notebook {
///     type NumHeads = NumHeads;
///     type QKDim = Quotient<DModel, NumHeads>;
///     type VODim = Quotient<DModel, NumHeads>;
///     type HiddenDim = FFHidden;
///     type Conventions = AnnotatedFlax;
///     const ATTENTION_DROPOUT: f64 = 0.1;
///     const DROPOUT: f64 = 0.1;
///     const FEED_FORWARD_DROPOUT: f64 = 0.1;
/// }
/// impl SingleStack for Notebook {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxLen;
///     type EmbedDim = DModel;
///     type NumLayers = NumLayers;
/// }
/// const ATTENTION: usize = 4 * (20 * 20 + 20);
/// const FEED_FORWARD: usize = 20 * 80 + 80 + 80 * 20 + 20;
/// const LAYER: usize = ATTENTION + 20 + FEED_FORWARD + 20;
/// const _: () = assert!(EncoderOnly::<Notebook, f32, Cpu>::NUM_PARAMS == 100 * 20 + 6 * LAYER);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AnnotatedFlax;

#[diagnostic::do_not_recommend]
impl Conventions for AnnotatedFlax {
    type Activation = Relu;
    type Positions = Sinusoidal;
    type PaddingRule = PadSourceKeys;
    const NORM_BIAS: bool = false;
    const ATTENTION_BIAS: bool = true;
    const EMBEDDING_SCALE: WidthScale = WidthScale::InvSqrt;
    const EMBEDDING_INIT_STD: WidthScale = WidthScale::InvSqrt;
    const EMBEDDING_NORM: bool = false;
    const NORM_EPSILON: f64 = 1e-6;
}
