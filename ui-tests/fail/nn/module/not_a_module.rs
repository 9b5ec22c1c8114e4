//! A type parameter that stands for a layer is a module.
//! Right with `Module` for `Clone` in line 6.
use typed_transformer::prelude::*;

#[module]
struct Residual<Inner: Clone, E, D> {
    inner: Inner,
}

fn main() {}
