//! A kernel is not longer than its axis with the padding.
//! Covers `Self` of `dims::KernelOf`.
//! Right with `Kernel` for `LongKernel` in line 11.
use typed_transformer::{dims::{ConstDim, KernelOf}, prelude::*};

dims! { SrcLen = 5; Kernel = 7; LongKernel = 8; Padding = 1; }

fn is_kernel<Len: Dim, Pad: ConstDim, Kernel: KernelOf<Len, Pad>>() {}

fn check() {
    is_kernel::<SrcLen, Padding, LongKernel>();
}

fn main() {}
