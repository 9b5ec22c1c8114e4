//! A mask is a mask of the crate or a comparison.
//! Covers `Self` of `ops::Mask`.
//! Right with `padding` for `batch` in line 12.
//! Mutants cover `Dims` by `SrcLen` of `ops::Mask`.
use typed_transformer::{ops::Mask, prelude::*};

dims! { SrcLen = 5; Batch; }

fn is_mask<Keeps: Mask<(Batch, SrcLen), f32, Cpu>>(_: Keeps) {}

fn check(padding: &PaddingMask<Batch, SrcLen>, batch: Batch) {
    is_mask(batch);
    let _ = (padding, batch);
}

fn main() {}
