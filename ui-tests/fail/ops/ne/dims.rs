//! A comparison has the shape of what it compares.
//! Covers `Dims` of `ops::ne`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Right` by `SrcLen` of `ops::ne`.
use typed_transformer::{ops::ne, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn compare(x: &Tensor<(SrcLen,), f32, Cpu>) -> Result<Tensor<(TgtLen,), bool, Cpu>, OpError> {
    ne(x, 0.0)
}

fn main() {}
