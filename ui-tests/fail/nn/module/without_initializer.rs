//! A parameter says what fills it.
//! Right with `Gate` for `Tensor` in line 15.
use typed_transformer::{nn::init, prelude::*};

dims! { EmbedDim = 8; }

#[module]
struct Gate<Dims: ConstDim, E, D> {
    #[param(init::ones)]
    weight: Tensor<(Dims,), E, D>,
}

#[module]
struct Gated<E, D> {
    gate: Tensor<EmbedDim, E, D>,
}

fn main() {}
