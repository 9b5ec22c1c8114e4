//! An encoder-only model has one configuration.
//! Covers `Config` of `nn::EncoderOnly`.
//! Right with `Small` for `Large` in line 15.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; NumLayers = 1; }

trait Reader:
    SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen, EmbedDim = EmbedDim, NumLayers = NumLayers>
{
}

fn replace<Small: Reader, Large: Reader>(
    model: &mut EncoderOnly<Small, f32, Cpu>,
    other: EncoderOnly<Large, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
