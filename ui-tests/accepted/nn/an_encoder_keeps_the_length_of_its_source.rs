//! What an encoder makes of a source is as long as the source.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; NumLayers = 1; Batch; }

fn encode<A: Arch>(
    encoder: &Encoder<EmbedDim, NumLayers, A, f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    let encoded = encoder.forward(source, padding);
    encoded
}

fn main() {}
