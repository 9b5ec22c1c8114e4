//! A padding token is one more token of the vocabulary: 26 letters have no id 26.
//! Right with `VocabSize` for `Letters` in line 7.
use typed_transformer::prelude::*;

dims! { Letters = 26; VocabSize = Letters::SIZE + 1; }

const PAD: Fin<Letters> = Fin::literal::<26>();

fn main() {}
