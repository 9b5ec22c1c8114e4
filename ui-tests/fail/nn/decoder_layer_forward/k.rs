//! A decoder layer uses the padding of its source.
//! Covers `K` of `nn::DecoderLayer::forward`.
//! Right with `SrcLen` for `TgtLen` in line 14.
//! Mutants cover `B` by `Batch`, `Q` by `TgtLen` of `nn::DecoderLayer::forward`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; Batch; }

fn decode<A: Arch>(
    layer: &DecoderLayer<TgtDim, SrcDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, TgtLen>,
) -> Result<Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>, OpError> {
    layer.forward(target, source, target_padding, source_padding)
}

fn main() {}
