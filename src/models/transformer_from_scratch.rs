//! *Transformer from Scratch*: an encoder-decoder in PyTorch.
//!
//! | section of the post | here |
//! | --- | --- |
//! | Attention, `MultiHeadAttention` | [`attention`](crate::ops::attention), [`MHAttention`](crate::nn::MHAttention), scaled by [`AttentionScale::EmbedDim`] |
//! | `PositionalEncoding` | [`sinusoidal_positions`](crate::ops::sinusoidal_positions), [`add_positions`](crate::ops::add_positions) |
//! | Residual connections, layer normalization, feed forward | [`residual`](crate::ops::residual), [`Norm`](crate::nn::Norm), [`FeedForward`](crate::nn::FeedForward) |
//! | Masking | [`mask`](crate::mask) |
//! | `EncoderBlock`, `Encoder` | [`EncoderLayer`](crate::nn::EncoderLayer), [`EmbeddingEncoder`](crate::nn::EmbeddingEncoder) |
//! | `DecoderBlock`, `Decoder` | [`DecoderLayer`](crate::nn::DecoderLayer), [`EmbeddingDecoder`](crate::nn::EmbeddingDecoder) and the `logit` of [`LM`](crate::nn::LM) |
//!
//! A `DecoderBlock` of the post is self-attention with its norm and then a whole `EncoderBlock` that
//! attends to the source: the three sublayers of a [`DecoderLayer`](crate::nn::DecoderLayer).
//!
//! The published code has three mistakes. The types here refuse each of them.
//!
//! - Weights and values are summed over different letters (`einsum("bhqk,bvhd->bqhd", …)`), so every query gets
//!   the plain sum of all values, later positions and padding included. [`attention`](crate::ops::attention) has
//!   one `K` for both. The test of this model repeats the mistake, so that the numbers can be compared.
//! - The inner block adds the key to its attention in place of the query. This runs only if both sequences have
//!   the same length. [`residual`](crate::ops::residual) takes two tensors of one length.
//! - The two masks are passed under each other's names. Here the type of a mask has the dimensions of its query and
//!   key.

use crate::mask::PadSourceKeys;
use crate::nn::{Conventions, Sinusoidal};
use crate::ops::{AttentionScale, Gelu};

/// The conventions of *Transformer from Scratch*: GELU, sinusoidal positions on unscaled embeddings, attention
/// without biases and scaled by the width of the embedding, as in the post's text.
///
/// The post's feed-forward layers are four times as wide as its embeddings:
///
/// ```
/// use typed_transformer::{models::transformer_from_scratch::FromScratch, nn::Module, prelude::*};
/// dims! {
///     pub SrcVocab = 11; pub TgtVocab = 7; pub MaxLen = 8; pub EmbedDim = 4; pub NumHeads = 2;
///     pub NumLayers = 2;
/// }
///
/// pub struct Small;
/// impl Arch for Small {
///     type NumHeads = NumHeads;
///     type QKDim = Quotient<EmbedDim, NumHeads>;
///     type VODim = Quotient<EmbedDim, NumHeads>;
///     type HiddenDim = Product<Const<4>, EmbedDim>;
///     type Conventions = FromScratch;
/// }
/// impl Seq2Seq for Small {
///     type SrcVocab = SrcVocab;
///     type TgtVocab = TgtVocab;
///     type MaxSrcLen = MaxLen;
///     type MaxTgtLen = MaxLen;
///     type EmbedDim = EmbedDim;
///     type NumEncoderLayers = NumLayers;
///     type NumDecoderLayers = NumLayers;
/// }
/// const ATTENTION: usize = 4 * 4 * 4;
/// const FEED_FORWARD: usize = 4 * 16 + 16 + 16 * 4 + 4;
/// const NORM: usize = 2 * 4;
/// const ENCODER: usize = 11 * 4 + 2 * (ATTENTION + NORM + FEED_FORWARD + NORM);
/// const DECODER: usize = 7 * 4 + 2 * (2 * (ATTENTION + NORM) + FEED_FORWARD + NORM);
/// const LOGIT: usize = 4 * 7 + 7;
/// const _: () = assert!(LM::<Small, f32, Cpu>::NUM_PARAMS == ENCODER + DECODER + LOGIT);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FromScratch;

#[diagnostic::do_not_recommend]
impl Conventions for FromScratch {
    type Activation = Gelu;
    type Positions = Sinusoidal;
    type PaddingRule = PadSourceKeys;
    const ATTENTION_SCALE: AttentionScale = AttentionScale::EmbedDim;
    const EMBEDDING_NORM: bool = false;
}
