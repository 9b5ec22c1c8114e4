//! A dimension with a literal index is greater than the literal.
//! Covers `Self` of `dims::HasIndex`.
//! Right with `Letters` for `Short` in line 10.
use typed_transformer::{dims::HasIndex, prelude::*};

dims! { Letters = 28; Short = 4; }

fn has_last_letter<Vocab: HasIndex<25>>() {}

const _: fn() = has_last_letter::<Short>;

fn main() {}
