//! A pre-norm model and a post-norm model of the same dimensions have different types.
//! Right with `pre` for `post` in line 33.
use typed_transformer::{models::{annotated_flax::AnnotatedFlax, nano_gpt::NanoGpt}, prelude::*};

dims! { Letters = 28; Max = 16; EmbedDim = 8; NumHeads = 2; HeadDim = 4; NumLayers = 1; }

macro_rules! model {
    ($name:ident, $style:ty) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = NumHeads;
            type QKDim = HeadDim;
            type VODim = HeadDim;
            type HiddenDim = EmbedDim;
            type Conventions = $style;
        }
        impl SingleStack for $name {
            type VocabSize = Letters;
            type MaxSeqLen = Max;
            type EmbedDim = EmbedDim;
            type NumLayers = NumLayers;
        }
    };
}
model!(PreNorm, NanoGpt);
model!(PostNorm, AnnotatedFlax);

fn replace(
    model: &mut DecoderOnly<PreNorm, f32, Cpu>,
    pre: DecoderOnly<PreNorm, f32, Cpu>,
    post: DecoderOnly<PostNorm, f32, Cpu>,
) {
    *model = post;
}

fn main() {}
