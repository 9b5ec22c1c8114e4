//! The ranks divide the heads of the configuration.
//! Covers `Axis` of `tensor_parallel::OnRanks`.
//! Right with `Two` for `Three` in line 24.
use typed_transformer::{prelude::*, ranks, tensor_parallel::OnRanks};

ranks! { Two = 2; Three = 3; }
dims! { VocabSize = 28; MaxSeqLen = 8; EmbedDim = 8; NumHeads = 8; HeadDim = 4; HiddenDim = 12; NumLayers = 1; }

struct Small;
impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl SingleStack for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

fn keep(_: &DecoderOnly<OnRanks<Small, Three>>) {}

fn main() {}
