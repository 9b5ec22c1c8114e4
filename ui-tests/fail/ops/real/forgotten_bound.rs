//! Generic code says that operations compute with its dtype.
//! Right with `Real` for `Copy` in line 5.
use typed_transformer::prelude::*;

fn keep<E: Copy, D: Backend<E>>(_: &D) {}

fn main() {}
