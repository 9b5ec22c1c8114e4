//! A literal token is one of its vocabulary: ids count from 0.
//! Proves `VALUE` of `tokens::Fin::literal`.
use typed_transformer::prelude::*;

dims! { VocabSize = 28; }

const PAD: Fin<VocabSize> = Fin::literal::<28>();

fn main() {}
