//! A token made from a dimension is less than the vocabulary size.
//! Covers `Value` of `tokens::Fin::from_dim`.
//! Right with `PadToken` for `PadSound` in line 8.
use typed_transformer::prelude::*;

dims! { Letters = 28; PadToken = 27; PadSound = 43; }

const PAD: Fin<Letters> = Fin::from_dim::<PadSound>();

fn main() {}
