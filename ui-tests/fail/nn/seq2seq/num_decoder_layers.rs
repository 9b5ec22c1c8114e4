//! The number of decoder layers comes from the model's configuration.
//! Covers `NumDecoderLayers` of `nn::Seq2Seq`.
//! Right with `NumLayers` for `OtherLayers` in line 9.
//! Mutants cover `EmbedDim` by `EmbedDim`, `NumEncoderLayers` by `NumLayers` of `nn::Seq2Seq`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

trait Speech: Seq2Seq<EmbedDim = EmbedDim, NumDecoderLayers = OtherLayers> {}

fn replace<M: Speech>(
    model: &mut LM<M, f32, Cpu>,
    decoder: Decoder<EmbedDim, EmbedDim, NumLayers, M, f32, Cpu>,
) {
    model.decoder.decoder = decoder;
}

fn main() {}
