//! A number is added by `+`.
//! Right with `bias` for `number` in line 8.
use typed_transformer::{ops::add, prelude::*};

dims! { EmbedDim = 8; Batch; }

fn shift(x: Tensor<(Batch, EmbedDim), f32, Cpu>, bias: &Tensor<(EmbedDim,), f32, Cpu>, number: f32) {
    let _shifted = add(x, number);
}

fn main() {}
