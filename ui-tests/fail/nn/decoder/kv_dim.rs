//! A decoder reads a source of the width that it was built for.
//! Covers `KVDim` of `nn::Decoder`.
//! Right with `SrcDim` for `EmbedDim` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; SrcDim = 24; TgtDim = 20; NumLayers = 1; Batch; }

fn decode<A: Arch>(
    decoder: &Decoder<TgtDim, EmbedDim, NumLayers, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    decoder.forward(target, source, target_padding, source_padding)
}

fn main() {}
