//! The embedding width comes from the model's configuration.
//! Covers `EmbedDim` of `nn::Seq2Seq`.
//! Right with `EmbedDim` for `KeyDim` in line 12.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; MaxSrcLen = 16; EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

trait Speech:
    Seq2Seq<
        SrcVocab = Letters,
        MaxSrcLen = MaxLen,
        EmbedDim = KeyDim,
        NumEncoderLayers = NumLayers,
    >
{
}

fn replace<M: Speech>(
    model: &mut LM<M, f32, Cpu>,
    encoder: Encoder<EmbedDim, NumLayers, M, f32, Cpu>,
) {
    model.encoder.encoder = encoder;
}

fn main() {}
