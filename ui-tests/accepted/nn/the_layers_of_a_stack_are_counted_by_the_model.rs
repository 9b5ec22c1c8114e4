//! The layers of a stack are counted by the model.
//! Proves `NumLayers` of `nn::SingleStack`.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

trait Writer: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers> {}

fn replace<M: Writer>(
    model: &mut DecoderOnly<M, f32, Cpu>,
    stack: BlockStack<EmbedDim, NumLayers, CausalMask, M, f32, Cpu>,
) {
    model.decoder = stack;
}

fn main() {}
