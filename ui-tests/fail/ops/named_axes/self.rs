//! A function for any shape takes tensors over dimensions, not over plain sizes.
//! Covers `Self` of `ops::NamedAxes`.
//! Right with `Batch` for `usize` in line 12.
use typed_transformer::{ops::NamedAxes, prelude::*};

dims! { Batch; EmbedDim = 8; }

fn print_shape<Dims: NamedAxes>(x: &Tensor<Dims, f32, Cpu>) {
    println!("{:?}", x.shape());
}

fn print(x: Tensor<(usize, EmbedDim), f32, Cpu>) {
    print_shape(&x);
}

fn main() {}
