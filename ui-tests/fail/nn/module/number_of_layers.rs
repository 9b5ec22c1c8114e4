//! The number of layers is a number.
//! Right with `NUM_LAYERS` for `NumLayers` in line 11.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; NumLayers = 2; }

const NUM_LAYERS: usize = NumLayers::SIZE;

#[module]
struct Stack<E, D> {
    #[layers(NumLayers)]
    layers: Vec<Linear<EmbedDim, EmbedDim, E, D>>,
}

fn main() {}
