//! A padding mask does not say which keys are visible.
//! Covers `Dims` of `ops::Mask`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{ops::Mask, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; Batch; }

fn is_mask<Dims: Shape, Keeps: Mask<Dims, f32, Cpu>>(_: Keeps) {}

fn check(padding: &PaddingMask<Batch, SrcLen>) {
    is_mask::<(Batch, TgtLen), _>(padding);
}

fn main() {}
