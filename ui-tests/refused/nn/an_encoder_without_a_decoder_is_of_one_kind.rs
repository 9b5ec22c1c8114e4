//! An encoder without a decoder is of one kind.
//! Proves `M` of `nn::EncoderOnly`.
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
