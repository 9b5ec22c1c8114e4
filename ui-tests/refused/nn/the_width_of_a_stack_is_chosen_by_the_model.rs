//! The width of a stack is chosen by the model.
//! Proves `EmbedDim` of `nn::OneStack`.
use typed_transformer::{nn::Stack, prelude::*};

dims! { EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

trait Writer: OneStack<EmbedDim = KeyDim, NumLayers = NumLayers> {}

fn replace<M: Writer>(
    model: &mut DecoderOnly<M, f32, Cpu>,
    stack: Stack<EmbedDim, NumLayers, CausalMask, M, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
