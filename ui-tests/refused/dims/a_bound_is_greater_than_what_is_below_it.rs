//! A bound is greater than what is below it.
//! Proves `Bound` of `dims::LessThan`.
use typed_transformer::prelude::*;

dims! { Letters = 28; PadToken = 27; Short = 4; }

fn is_token<Id: LessThan<Short>>() {}

const _: fn() = is_token::<PadToken>;

fn main() {}
