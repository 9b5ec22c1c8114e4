//! A block has the embedding width of its stack.
//! Covers `EmbedDim` of `nn::Block`.
//! Right with `TgtDim` for `KeyDim` in line 10.
use typed_transformer::{nn::{Block, BlockStack}, prelude::*};

dims! { TgtDim = 20; KeyDim = 18; NumLayers = 1; }

fn replace<Small: Arch, Large: Arch>(
    stack: &mut BlockStack<TgtDim, NumLayers, CausalMask, Small, f32, Cpu>,
    block: Block<KeyDim, CausalMask, Small, f32, Cpu>,
) {
    stack.layers[0] = block;
}

fn main() {}
