//! An exclusive bound is greater than the dimension below it.
//! Covers `Bound` of `dims::LessThan`.
//! Right with `Letters` for `Short` in line 8.
use typed_transformer::prelude::*;

dims! { Letters = 28; PadToken = 27; Short = 4; }

fn is_token<Id: LessThan<Short>>() {}

const _: fn() = is_token::<PadToken>;

fn main() {}
