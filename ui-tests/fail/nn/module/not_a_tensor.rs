//! A parameter is a tensor.
//! Right with `Tensor` for `Vec` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

#[module]
struct Gate<E, D> {
    #[param(typed_transformer::nn::init::ones)]
    weight: Vec<(EmbedDim,), E, D>,
}

fn main() {}
