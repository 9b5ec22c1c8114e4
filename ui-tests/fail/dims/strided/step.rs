//! The number of places follows from the step.
//! Covers `Step` of `dims::Strided`.
//! Right with `Stride` for `LongStride` in line 9.
//! Mutants cover `Len` by `SrcLen` of `dims::Strided`.
use typed_transformer::{dims::Strided, prelude::*};

dims! { SrcLen = 7; Stride = 2; LongStride = 3; }

fn step(x: Tensor<(Strided<SrcLen, LongStride>,), f32, Cpu>) {
    let _places: Tensor<(Strided<SrcLen, Stride>,), f32, Cpu> = x;
}

fn main() {}
