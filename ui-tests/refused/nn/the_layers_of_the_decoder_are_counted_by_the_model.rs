//! The layers of the decoder are counted by the model.
//! Proves `DecoderLayers` of `nn::Seq2Seq`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

trait Speech: Seq2Seq<EmbedDim = EmbedDim, DecoderLayers = OtherLayers> {}

fn replace<M: Speech>(
    model: &mut LM<M, f32, Cpu>,
    decoder: Decoder<EmbedDim, EmbedDim, NumLayers, M, f32, Cpu>,
) {
    model.decoder.decoder = decoder;
}

fn main() {}
