//! *Learning the Transformer*: a decoder-only model in Equinox.
//!
//! | section of the post | here |
//! | --- | --- |
//! | The Input: `get_next_multiple_of_64` | [`usize::next_multiple_of`], as below |
//! | The Input: `get_positional_encoding` | [`sinusoidal_positions`](crate::ops::sinusoidal_positions) |
//! | `MultiHeadAttention` | [`MHAttention`](crate::nn::MHAttention) |
//! | Insertion: Masking | [`CausalMask`](crate::mask::CausalMask) |
//! | The Rest: the feed-forward of depth 2 | [`FeedForward`](crate::nn::FeedForward), [`Arch::FEED_FORWARD_EXTRA_LAYERS`](crate::nn::Arch::FEED_FORWARD_EXTRA_LAYERS) |
//! | The Rest: `RMSNorm`, one for both sublayers | [`rms_norm`](crate::ops::rms_norm), [`NormPlacement::PostShared`] |
//! | `Transformer` | [`DecoderOnly`](crate::nn::DecoderOnly) |
//! | "create a sequence of these MHA blocks … left to the reader" | [`BlockStack`](crate::nn::BlockStack) |
//!
//! The published code does not run: its attention and feed-forward layers have the width of the vocabulary but receive
//! embeddings. Here this mistake does not compile, since a [`Block`](crate::nn::Block) has one width.

use crate::mask::PadSourceKeys;
use crate::nn::{Conventions, NormKind, NormPlacement, Sinusoidal};
use crate::ops::Relu;

/// The conventions of *Learning the Transformer*: one RMSNorm, shared by both sublayers of a block and applied
/// after each; ReLU; sinusoidal positions; no biases in attention or logits.
///
/// The model at the size that the post trains, with the recommended vocabulary and three blocks:
///
/// ```
/// use typed_transformer::{models::learning_the_transformer::Learning, nn::Module, prelude::*};
/// dims! {
///     pub VocabSize = 65_usize.next_multiple_of(64); pub MaxT = 8; pub NumEmbed = 32;
///     pub NumHeads = 4; pub Width = 32; pub NumBlocks = 3;
/// }
///
/// pub struct Small;
/// impl Arch for Small {
///     type NumHeads = NumHeads;
///     type QKDim = Quotient<NumEmbed, NumHeads>;
///     type VODim = Quotient<NumEmbed, NumHeads>;
///     type HiddenDim = Width;
///     type Conventions = Learning;
///     const FEED_FORWARD_EXTRA_LAYERS: usize = 1;
/// }
/// impl SingleStack for Small {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxT;
///     type EmbedDim = NumEmbed;
///     type NumLayers = NumBlocks;
/// }
/// const BLOCK: usize = 4 * 32 * 32 + 3 * (32 * 32 + 32) + 32;
/// const _: () = assert!(DecoderOnly::<Small, f32, Cpu>::NUM_PARAMS == 2 * 128 * 32 + 3 * BLOCK);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Learning;

#[diagnostic::do_not_recommend]
impl Conventions for Learning {
    type Activation = Relu;
    type Positions = Sinusoidal;
    type PaddingRule = PadSourceKeys;
    const NORM: NormKind = NormKind::RmsNorm;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::PostShared;
    const LOGIT_BIAS: bool = false;
    const EMBEDDING_NORM: bool = false;
    const NORM_EPSILON: f64 = 1e-6;
}
