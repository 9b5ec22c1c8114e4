//! A field that a module need not have is an `Option`.
//! Right with `Option` for `Box` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

#[module]
struct Block<E, D> {
    #[some_if(EmbedDim::SIZE > 4)]
    map: Box<typed_transformer::nn::Linear<EmbedDim, EmbedDim, E, D>>,
}

fn main() {}
