//! A number as a dimension is a `Const`, not an integer.
//! Right with `Const::<3>` for `3` in line 8.
use typed_transformer::prelude::*;

fn keep<Width: ConstDim>(_: Width) {}

fn f() {
    keep(3);
}

fn main() {}
