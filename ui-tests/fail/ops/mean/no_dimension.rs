//! A mean is that of named axes, and `usize` is no dimension.
//! Right with `SeqLen` for `usize` in line 7.
use typed_transformer::{ops::mean, prelude::{Cpu, OpError, Tensor, dims}};

dims! { SeqLen = 5; }

fn check(x: Tensor<(usize,), f32, Cpu>) -> Result<Tensor<(), f32, Cpu>, OpError> {
    mean(x)
}

fn main() {}
