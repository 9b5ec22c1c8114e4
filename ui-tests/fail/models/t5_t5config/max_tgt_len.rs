//! A cache has room for the longest sequence, which is known at compile time.
//! Covers `MaxTgtLen` of `models::t5::T5Config`.
//! Right with `MaxTgtLen` for `Len` in line 15.
use typed_transformer::{models::t5::T5Config, prelude::*};

dims! {
    VocabSize = 28; MaxTgtLen = 16; EmbedDim = 24; NumHeads = 4; HeadDim = 6; HiddenDim = 96;
    NumEncoderLayers = 2; NumDecoderLayers = 2; NumBuckets = 32;
}
dims! { Len; }

struct Small;
impl T5Config for Small {
    type VocabSize = VocabSize;
    type MaxTgtLen = Len;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HeadDim = HeadDim;
    type HiddenDim = HiddenDim;
    type NumEncoderLayers = NumEncoderLayers;
    type NumDecoderLayers = NumDecoderLayers;
    type NumBuckets = NumBuckets;
    const MAX_DISTANCE: usize = 128;
    const NORM_EPSILON: f64 = 1e-6;
}

fn main() {}
