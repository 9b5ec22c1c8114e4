//! A token of a vocabulary padded to a multiple of 64 may not exist in the vocabulary itself.
//! Right with `Padded` for `Chars` in line 7.
use typed_transformer::{models::learning_the_transformer::get_next_multiple_of_64, prelude::*};

dims! { Chars = 65; Padded = get_next_multiple_of_64(Chars::SIZE); Last = 127; }

const LAST: Fin<Chars> = Fin::from_dim::<Last>();

fn main() {}
