//! A block uses the padding of its own sequence.
//! Covers `S` of `nn::Block::forward`.
//! Right with `SrcLen` for `TgtLen` in line 12.
//! Mutants cover `B` by `Batch` of `nn::Block::forward`.
use typed_transformer::{nn::Block, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn encode<A: Arch>(
    layer: &Block<EmbedDim, NoMask, A, f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, TgtLen>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    layer.forward(source, padding)
}

fn main() {}
