//! [nanoGPT](https://github.com/karpathy/nanoGPT): GPT-2 in the 300 lines of `model.py`. *Learning the
//! Transformer* follows it.
//!
//! | in `model.py` | here |
//! | --- | --- |
//! | `LayerNorm` with an optional bias | [`Norm`](crate::nn::Norm), [`Conventions::NORM_BIAS`] |
//! | `CausalSelfAttention` | [`SelfAttention`](crate::nn::SelfAttention) with [`CausalMask`](crate::mask::CausalMask) |
//! | `MLP` | [`FeedForward`](crate::nn::FeedForward) |
//! | `Block` | [`Block`](crate::nn::Block) with [`NormPlacement::Pre`] |
//! | `GPT`, `ln_f`, `lm_head` tied to `wte` | [`DecoderOnly`](crate::nn::DecoderOnly), [`Conventions::TIED_LOGITS`] |

use crate::mask::PadSourceKeys;
use crate::nn::{Conventions, Learned, NormPlacement, WidthScale};
use crate::ops::Gelu;

/// The conventions of nanoGPT's training from scratch: pre-norm, GELU, learned positions, tied logits, no
/// biases, normally distributed initial weights with a standard deviation of 0.02.
///
/// One detail differs: nanoGPT initializes the projections into the residual stream with a standard deviation
/// of 0.02 / √(2 × layers).
///
/// The model with nanoGPT's configuration for a CPU:
///
/// ```
/// use typed_transformer::{models::nano_gpt::NanoGpt, nn::Module, prelude::*};
/// dims! {
///     pub Chars = 65; pub Block = 64; pub EmbedDim = 128; pub NumHeads = 4; pub NumLayers = 4;
/// }
///
/// pub struct CharModel;
/// impl Arch for CharModel {
///     type NumHeads = NumHeads;
///     type QKDim = Quotient<EmbedDim, NumHeads>;
///     type VODim = Quotient<EmbedDim, NumHeads>;
///     type HiddenDim = Product<Const<4>, EmbedDim>;
///     type Conventions = NanoGpt;
/// }
/// impl SingleStack for CharModel {
///     type VocabSize = Chars;
///     type MaxSeqLen = Block;
///     type EmbedDim = EmbedDim;
///     type NumLayers = NumLayers;
/// }
/// const _: () = assert!(DecoderOnly::<CharModel, f32, Cpu>::NUM_PARAMS == 804_096);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NanoGpt;

#[diagnostic::do_not_recommend]
impl Conventions for NanoGpt {
    type Activation = Gelu;
    type Positions = Learned;
    type PaddingRule = PadSourceKeys;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Pre;
    const TIED_LOGITS: bool = true;
    const FEED_FORWARD_BIAS: bool = false;
    const NORM_BIAS: bool = false;
    const LOGIT_BIAS: bool = false;
    const EMBEDDING_INIT_STD: WidthScale = WidthScale::Constant(0.02);
    const WEIGHT_INIT_STD: Option<f64> = Some(0.02);
    const EMBEDDING_NORM: bool = false;
}
