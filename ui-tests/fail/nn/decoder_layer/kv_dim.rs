//! A decoder layer reads a source of the width that it was built for.
//! Covers `KVDim` of `nn::DecoderLayer`.
//! Right with `KVDim` for `QDim` in line 11.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; QDim = 8; KVDim = 8; Batch; }

fn decode<A: Arch>(
    layer: &DecoderLayer<QDim, KVDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, QDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, QDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, QDim), f32, Cpu>, OpError> {
    layer.forward(target, source, target_padding, source_padding)
}

fn main() {}
