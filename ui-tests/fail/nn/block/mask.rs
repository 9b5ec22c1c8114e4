//! A block has the mask of its stack.
//! Covers `Mask` of `nn::Block`.
//! Right with `CausalMask` for `NoMask` in line 10.
use typed_transformer::{nn::{Block, BlockStack}, prelude::*};

dims! { TgtDim = 20; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    stack: &mut BlockStack<TgtDim, NumLayers, CausalMask, Small, f32, Cpu>,
    block: Block<TgtDim, NoMask, Small, f32, Cpu>,
) {
    stack.layers[0] = block;
}

fn main() {}
