//! A block uses the padding of its own batch.
//! Covers `B` of `nn::Block::forward`.
//! Right with `Batch` for `OtherBatch` in line 11.
use typed_transformer::{nn::Block, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn encode<A: Arch>(
    layer: &Block<EmbedDim, NoMask, A, f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    layer.forward(source, padding)
}

fn main() {}
