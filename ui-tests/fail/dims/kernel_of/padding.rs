//! A kernel is not longer than its axis with the padding.
//! Covers `Padding` of `dims::KernelOf`.
//! Right with `Padding` for `NoPadding` in line 11.
use typed_transformer::{dims::{ConstDim, KernelOf}, prelude::*};

dims! { SrcLen = 5; Kernel = 7; NoPadding = 0; Padding = 1; }

fn is_kernel<Len: Dim, Pad: ConstDim, Kernel: KernelOf<Len, Pad>>() {}

fn check() {
    is_kernel::<SrcLen, NoPadding, Kernel>();
}

fn main() {}
