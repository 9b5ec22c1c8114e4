//! An integer is not a dimension; one as a dimension is `Const::<2>`.
//! Right with `Batch` for `2` in line 10.
use typed_transformer::prelude::*;

dims! { Batch = 4; }

fn repeat<Rows: DataDim>(_: Rows) {}

fn f() {
    repeat(2);
}

fn main() {}
