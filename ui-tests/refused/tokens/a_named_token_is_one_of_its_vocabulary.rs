//! A named token is one of its vocabulary.
//! Proves `Value` of `tokens::Fin::from_dim`.
use typed_transformer::prelude::*;

dims! { Letters = 28; PadToken = 27; PadSound = 43; }

const PAD: Fin<Letters> = Fin::from_dim::<PadSound>();

fn main() {}
