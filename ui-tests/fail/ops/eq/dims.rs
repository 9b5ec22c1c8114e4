//! A comparison has the shape of what it compares.
//! Covers `Dims` of `ops::eq`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Right` by `SrcLen` of `ops::eq`.
use typed_transformer::{ops::eq, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn compare(x: &Tensor<(SrcLen,), f32, Cpu>) -> Result<Tensor<(TgtLen,), bool, Cpu>, OpError> {
    eq(x, 0.0)
}

fn main() {}
