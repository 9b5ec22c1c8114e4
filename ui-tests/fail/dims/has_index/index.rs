//! A literal index of a dimension is less than its size.
//! Covers `INDEX` of `dims::HasIndex`.
//! Right with `25` for `43` in line 8.
use typed_transformer::{dims::HasIndex, prelude::*};

dims! { Letters = 28; }

fn has_sound<Vocab: HasIndex<43>>() {}

const _: fn() = has_sound::<Letters>;

fn main() {}
