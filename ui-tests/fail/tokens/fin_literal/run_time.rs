//! A literal token is one of a vocabulary whose size is known at compile time.
//! Right with `VocabSize` for `Words` in line 7.
use typed_transformer::prelude::*;

dims! { VocabSize = 28; Words; }

const PAD: Fin<Words> = Fin::literal::<3>();

fn main() {}
