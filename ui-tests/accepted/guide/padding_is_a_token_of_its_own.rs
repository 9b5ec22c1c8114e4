//! There is no 27th of 26 letters.
use typed_transformer::prelude::*;

dims! { Letters = 26; VocabSize = Letters::SIZE + 1; }

const PAD: Fin<VocabSize> = Fin::literal::<26>();

fn main() {}
