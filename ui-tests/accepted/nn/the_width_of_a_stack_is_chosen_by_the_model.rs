//! The width of a stack is chosen by the model.
//! Proves `EmbedDim` of `nn::SingleStack`.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

trait Writer: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers> {}

fn replace<M: Writer>(
    model: &mut DecoderOnly<M, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, M, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
