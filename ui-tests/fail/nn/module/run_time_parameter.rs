//! A parameter has its size at compile time.
//! Right with `EmbedDim` for `Batch` in line 10.
use typed_transformer::{nn::init, prelude::*};

dims! { EmbedDim = 8; Batch; }

#[module]
struct Gate<E, D> {
    #[param(init::ones)]
    weight: Tensor<(Batch,), E, D>,
}

fn main() {}
