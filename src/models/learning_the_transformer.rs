//! *Learning the Transformer*: a decoder-only model in Equinox.
//!
//! | section of the post | here |
//! | --- | --- |
//! | The Input: `get_next_multiple_of_64` | [`get_next_multiple_of_64`] |
//! | The Input: `get_positional_encoding` | [`sinusoidal_positions`](crate::ops::sinusoidal_positions) |
//! | `MultiHeadAttention` | [`MHAttention`](crate::nn::MHAttention) |
//! | Insertion: Masking | [`CausalMask`](crate::mask::CausalMask) |
//! | The Rest: the feed-forward of depth 2 | [`FeedForward`](crate::nn::FeedForward), [`Arch::FEED_FORWARD_EXTRA_LAYERS`](crate::nn::Arch::FEED_FORWARD_EXTRA_LAYERS) |
//! | The Rest: `RMSNorm`, one for both sublayers | [`rms_norm`](crate::ops::rms_norm), [`NormPlacement::PostShared`] |
//! | `Transformer` | [`DecoderOnly`](crate::nn::DecoderOnly) |
//! | "create a sequence of these MHA blocks … left to the reader" | [`BlockStack`](crate::nn::BlockStack) |
//!
//! As published, attention and feed-forward are as wide as the vocabulary and are given embeddings,
//! which does not run. A [`Block`](crate::nn::Block) has one width, so here it cannot be written.

use crate::{
    mask::PadSourceKeys,
    nn::{Conventions, NormKind, NormPlacement, Sinusoidal},
    ops::Relu,
};

/// The style of *Learning the Transformer*: RMSNorm after each sublayer, one for both of a block; ReLU;
/// sinusoidal positions; no biases in attention or logits.
///
/// At the size that the post trains, but with the vocabulary that it recommends and with three blocks:
///
/// ```
/// use typed_transformer::{
///     models::learning_the_transformer::{Learning, get_next_multiple_of_64}, nn::Module, prelude::*,
/// };
/// dims! {
///     pub VocabSize = get_next_multiple_of_64(65); pub MaxT = 8; pub NumEmbed = 32;
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
    type Padding = PadSourceKeys;
    const NORM: NormKind = NormKind::RmsNorm;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::PostShared;
    const LOGIT_BIAS: bool = false;
    const EMBEDDING_NORM: bool = false;
    const NORM_EPSILON: f64 = 1e-6;
}

/// The smallest multiple of 64 that is not below `number`: a size for a vocabulary that is even, as
/// the post wants it, and that hardware likes.
///
/// It is a constant function, so that a dimension can be declared by it. What the padding adds are
/// tokens that no text has: an id of the vocabulary proper is one of the padded vocabulary, not the
/// other way round.
///
/// ```
/// use typed_transformer::{models::learning_the_transformer::get_next_multiple_of_64, prelude::*};
/// dims! { pub Gpt2Vocab = 50_257; pub VocabSize = get_next_multiple_of_64(Gpt2Vocab::SIZE); }
/// const _: () = assert!(VocabSize::SIZE == 50_304);
/// fn fits<Vocab: AtMost<VocabSize>>() {}
/// fits::<Gpt2Vocab>();
/// ```
pub const fn get_next_multiple_of_64(number: usize) -> usize {
    number.next_multiple_of(64)
}
