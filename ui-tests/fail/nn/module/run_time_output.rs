//! The last dimension of a module's output has its size at compile time.
//! Right with `EmbedDim` for `Batch` in line 7.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; Batch; }

#[module(output = Batch)]
struct Map<E, D> {
    map: Linear<EmbedDim, EmbedDim, E, D>,
}

fn main() {}
