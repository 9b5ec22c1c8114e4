//! A literal token is less than the vocabulary size.
//! Covers `VALUE` of `tokens::Fin::literal`.
//! Right with `27` for `28` in line 8.
use typed_transformer::prelude::*;

dims! { VocabSize = 28; }

const PAD: Fin<VocabSize> = Fin::literal::<28>();

fn main() {}
