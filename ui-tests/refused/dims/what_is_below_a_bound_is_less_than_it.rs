//! What is below a bound is less than it.
//! Proves `Self` of `dims::LessThan`.
use typed_transformer::prelude::*;

dims! { Letters = 28; PadToken = 27; PadSound = 43; }

fn is_token<Id: LessThan<Letters>>() {}

const _: fn() = is_token::<PadSound>;

fn main() {}
