//! A block is as wide as its stack.
//! Proves `EmbedDim` of `nn::Block`.
use typed_transformer::{nn::{Block, BlockStack}, prelude::*};

dims! { TgtDim = 20; KeyDim = 18; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    stack: &mut BlockStack<TgtDim, NumLayers, CausalMask, Small, f32, Cpu>,
    block: Block<TgtDim, CausalMask, Small, f32, Cpu>,
) {
    stack.layers[0] = block;
}

fn main() {}
