//! The length after a convolution follows from its stride.
//! Covers `Stride` of `dims::ConvLen`.
//! Right with `Stride` for `LongStride` in line 9.
//! Mutants cover `Len` by `SrcLen`, `Kernel` by `Kernel`, `Padding` by `Padding` of `dims::ConvLen`.
use typed_transformer::{dims::ConvLen, prelude::*};

dims! { SrcLen = 7; Kernel = 3; Stride = 2; LongStride = 3; Padding = 1; }

fn step(x: Tensor<(ConvLen<SrcLen, Kernel, LongStride, Padding>,), f32, Cpu>) {
    let _places: Tensor<(ConvLen<SrcLen, Kernel, Stride, Padding>,), f32, Cpu> = x;
}

fn main() {}
