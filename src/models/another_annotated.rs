//! *Another annotated transformer*: three flavours of the transformer, one of which the author trains to do rot13.
//!
//! | section of the post | here |
//! | --- | --- |
//! | Tokenization | [`TokenIds::padded`](crate::tokens::TokenIds::padded), `examples/train_rot13` |
//! | Embedding | [`Embedder`](crate::nn::Embedder) |
//! | Positional encoding: `sin_pos_enc` | [`sinusoidal_positions`](crate::ops::sinusoidal_positions) |
//! | Scaled dot product attention, masked softmax | [`attention`](crate::ops::attention), [`MaskFill::Subtract`] |
//! | `MultiHeadAttention` | [`MHAttention`](crate::nn::MHAttention) |
//! | `FeedForward`, `AddAndNorm` | [`FeedForward`](crate::nn::FeedForward), and the [`Norm`](crate::nn::Norm) of each sublayer |
//! | `EncoderLayer`, `Encoder` | [`EncoderLayer`](crate::nn::EncoderLayer), [`EmbeddingEncoder`](crate::nn::EmbeddingEncoder) |
//! | Causal masking | [`CausalMask`](crate::mask::CausalMask) |
//! | `DecoderLayer`, `Decoder` | [`DecoderLayer`](crate::nn::DecoderLayer), [`EmbeddingDecoder`](crate::nn::EmbeddingDecoder) |
//! | Encoder-only | [`EncoderOnly`](crate::nn::EncoderOnly); [`pooled`](crate::nn::EmbeddingEncoder::pooled) computes the features of a whole sequence |
//! | Decoder-only | [`DecoderOnly`](crate::nn::DecoderOnly) |
//! | Encoder-decoder: `EncoderDecoderTransformer` | [`LM`](crate::nn::LM) |
//! | Rot13 | `examples/train_rot13` |

use crate::mask::PadSourceKeys;
use crate::nn::{Conventions, Sinusoidal, WidthScale};
use crate::ops::{MaskFill, Relu};

/// The conventions of *Another annotated transformer*: ReLU, embeddings scaled by the square root of their
/// width, sinusoidal positions, attention with biases and a freely chosen head size.
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
///     type Conventions = Annotated;
/// }
/// // The number of parameters that the post prints for the attention layer.
/// type Attention = MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, Small, f32, Cpu>;
/// const _: () = assert!(Attention::NUM_PARAMS == 63);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Annotated;

#[diagnostic::do_not_recommend]
impl Conventions for Annotated {
    type Activation = Relu;
    type Positions = Sinusoidal;
    type PaddingRule = PadSourceKeys;
    const ATTENTION_BIAS: bool = true;
    const MASK_FILL: MaskFill = MaskFill::Subtract(10_000.0);
    const EMBEDDING_SCALE: WidthScale = WidthScale::Sqrt;
    const EMBEDDING_INIT_STD: WidthScale = WidthScale::InvSqrt;
    const EMBEDDING_NORM: bool = false;
    const NORM_EPSILON: f64 = 1e-6;
}
