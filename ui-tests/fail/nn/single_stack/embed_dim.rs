//! The embedding width of a single-stack model comes from its configuration.
//! Covers `EmbedDim` of `nn::SingleStack`.
//! Right with `EmbedDim` for `KeyDim` in line 9.
//! Mutants cover `NumLayers` by `NumLayers` of `nn::SingleStack`.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

trait Writer: SingleStack<EmbedDim = KeyDim, NumLayers = NumLayers> {}

fn replace<M: Writer>(
    model: &mut DecoderOnly<M, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, M, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
