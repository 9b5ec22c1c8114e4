//! A dimension below an exclusive bound is less than the bound.
//! Covers `Self` of `dims::LessThan`.
//! Right with `PadToken` for `PadSound` in line 10.
use typed_transformer::prelude::*;

dims! { Letters = 28; PadToken = 27; PadSound = 43; }

fn is_token<Id: LessThan<Letters>>() {}

const _: fn() = is_token::<PadSound>;

fn main() {}
