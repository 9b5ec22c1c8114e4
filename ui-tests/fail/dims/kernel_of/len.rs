//! A kernel is not longer than its axis with the padding.
//! Covers `Len` of `dims::KernelOf`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{dims::{ConstDim, KernelOf}, prelude::*};

dims! { SrcLen = 5; TgtLen = 2; Kernel = 7; Padding = 1; }

fn is_kernel<Len: Dim, Pad: ConstDim, Kernel: KernelOf<Len, Pad>>() {}

fn check() {
    is_kernel::<TgtLen, Padding, Kernel>();
}

fn main() {}
