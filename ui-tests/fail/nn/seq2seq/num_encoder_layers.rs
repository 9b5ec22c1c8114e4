//! The number of encoder layers comes from the model's configuration.
//! Covers `NumEncoderLayers` of `nn::Seq2Seq`.
//! Right with `NumLayers` for `OtherLayers` in line 13.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; MaxSrcLen = 16; EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

trait Speech:
    Seq2Seq<
        SrcVocab = Letters,
        MaxSrcLen = MaxLen,
        EmbedDim = EmbedDim,
        NumEncoderLayers = OtherLayers,
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
