//! The number of layers is known at compile time.
//! Covers `NumDecoderLayers` of `models::t5::T5Config`.
//! Right with `NumDecoderLayers` for `Depth` in line 21.
use typed_transformer::{models::t5::T5Config, prelude::*};

dims! {
    VocabSize = 28; MaxTgtLen = 16; EmbedDim = 24; NumHeads = 4; HeadDim = 6; HiddenDim = 96;
    NumEncoderLayers = 2; NumDecoderLayers = 2; NumBuckets = 32;
}
dims! { Depth; }

struct Small;
impl T5Config for Small {
    type VocabSize = VocabSize;
    type MaxTgtLen = MaxTgtLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HeadDim = HeadDim;
    type HiddenDim = HiddenDim;
    type NumEncoderLayers = NumEncoderLayers;
    type NumDecoderLayers = Depth;
    type NumBuckets = NumBuckets;
    const MAX_DISTANCE: usize = 128;
    const NORM_EPSILON: f64 = 1e-6;
}

fn main() {}
