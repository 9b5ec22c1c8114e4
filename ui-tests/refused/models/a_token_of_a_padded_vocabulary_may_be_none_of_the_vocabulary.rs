//! A vocabulary that was padded to a multiple of 64 has tokens that the vocabulary itself lacks.
use typed_transformer::{models::learning_the_transformer::get_next_multiple_of_64, prelude::*};

dims! { Chars = 65; Padded = get_next_multiple_of_64(Chars::SIZE); Last = 127; }

const LAST: Fin<Chars> = Fin::from_dim::<Last>();

fn main() {}
