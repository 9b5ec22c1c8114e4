//! *The Typed Transformer*; [`guide::annotated`](crate::guide::annotated) maps its sections to this crate.

use crate::mask::PadQueriesAndKeys;
use crate::nn::{Conventions, Learned};
use crate::ops::GeluTanh;

/// The conventions of *The Typed Transformer*: GELU, learned positions, normalized embeddings, attention
/// without biases, masked padding in queries and keys.
///
/// An [`LM`](crate::nn::LM) with these conventions is the post's model, with the same parameter paths:
///
/// ```
/// use typed_transformer::{nn::Module, prelude::*};
/// dims! {
///     pub VocabSize = 128; pub MaxSeqLen = 16; pub EmbedDim = 128; pub NumHeads = 2;
///     pub HiddenDim = 512; pub NumLayers = 4;
/// }
///
/// pub struct Tiny;
/// impl Arch for Tiny {
///     type NumHeads = NumHeads;
///     type QKDim = Quotient<EmbedDim, NumHeads>;
///     type VODim = Quotient<EmbedDim, NumHeads>;
///     type HiddenDim = HiddenDim;
///     type Conventions = TypedTransformer;
/// }
/// impl Seq2Seq for Tiny {
///     type SrcVocab = VocabSize;
///     type TgtVocab = VocabSize;
///     type MaxSrcLen = MaxSeqLen;
///     type MaxTgtLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumEncoderLayers = NumLayers;
///     type NumDecoderLayers = NumLayers;
/// }
/// const _: () = assert!(LM::<Tiny, f32, Cpu>::NUM_PARAMS == 1_899_136);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedTransformer;

#[diagnostic::do_not_recommend]
impl Conventions for TypedTransformer {
    type Activation = GeluTanh;
    type Positions = Learned;
    type PaddingRule = PadQueriesAndKeys;
}
