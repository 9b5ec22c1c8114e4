//! A named token is one of its vocabulary.
//! Proves `Value` of `tokens::Fin::named`.
use typed_transformer::prelude::*;

dims! { Letters = 28; PadToken = 27; PadSound = 43; }

const PAD: Fin<Letters> = Fin::named::<PadToken>();

fn main() {}
