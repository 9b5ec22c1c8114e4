//! A block belongs to one architecture.
//! Covers `A` of `nn::Block`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::{Block, BlockStack}, prelude::*};

dims! { TgtDim = 20; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    stack: &mut BlockStack<TgtDim, NumLayers, CausalMask, Small, f32, Cpu>,
    block: Block<TgtDim, CausalMask, Large, f32, Cpu>,
) {
    stack.layers[0] = block;
}

fn main() {}
