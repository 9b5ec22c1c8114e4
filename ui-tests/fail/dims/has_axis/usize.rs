//! All axes of a tensor are dimensions, also those that an operation leaves as they are.
//! Right with `Unchecked` for `usize` in line 7.
use typed_transformer::{dims::Unchecked, prelude::*};

dims! { EmbedDim = 8; }

fn sums(x: Tensor<(usize, EmbedDim), f32, Cpu>, _: Unchecked) {
    let _sums = sum_over(x, axis::<EmbedDim>());
}

fn main() {}
