//! The layers of a decoder-only model are causal.
//! Right with `CausalMask` for `NoMask` in line 11.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 2; }

trait Small: SingleStack<EmbedDim = EmbedDim, NumLayers = NumLayers> {}

fn replace<M: Small>(
    model: &mut DecoderOnly<M, f32, Cpu>,
    layers: BlockStack<EmbedDim, NumLayers, NoMask, M, f32, Cpu>,
) {
    model.decoder = layers;
}

fn main() {}
