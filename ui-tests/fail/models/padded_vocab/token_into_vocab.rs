//! A token of a vocabulary padded to a multiple of 64 may not exist in the vocabulary itself.
//! Right with `Padded` for `Chars` in line 7.
use typed_transformer::prelude::*;

dims! { Chars = 65; Padded = Chars::SIZE.next_multiple_of(64); Last = 127; }

const LAST: Fin<Chars> = Fin::from_dim::<Last>();

fn main() {}
