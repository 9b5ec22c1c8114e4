//! A choice by a mask keeps the shape.
//! Covers `Dims` of `ops::where_`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Keeps` by `SrcLen`, `Otherwise` by `SrcLen` of `ops::where_`.
use typed_transformer::{ops::where_, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn clear(mask: &Tensor<(SrcLen,), bool, Cpu>, x: Tensor<(TgtLen,), f32, Cpu>) {
    let _cleared = where_(mask, x, 0.0).unwrap();
}

fn main() {}
