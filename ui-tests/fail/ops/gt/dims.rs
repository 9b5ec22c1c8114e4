//! A comparison has the shape of what it compares.
//! Covers `Dims` of `ops::gt`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Right` by `SrcLen` of `ops::gt`.
use typed_transformer::{ops::gt, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn compare(x: &Tensor<(SrcLen,), f32, Cpu>) -> Result<Tensor<(TgtLen,), bool, Cpu>, OpError> {
    gt(x, 0.0)
}

fn main() {}
