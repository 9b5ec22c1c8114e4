//! A module for any shape takes tensors over dimensions, not over plain sizes.
//! Covers `Self` of `ops::NamedAxes`.
//! Right with `Batch` for `usize` in line 18.
use typed_transformer::{
    ops::{NamedAxes, Sizes},
    prelude::*,
};

dims! { Batch; EmbedDim = 8; }

fn print_shape<Dims: NamedAxes<N>, const N: usize>(x: &Tensor<Dims, f32, Cpu>)
where
    [usize; N]: Sizes,
{
    println!("{:?}", x.shape());
}

fn print(x: Tensor<(usize, EmbedDim), f32, Cpu>) {
    print_shape(&x);
}

fn main() {}
