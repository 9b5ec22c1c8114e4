//! CharTokenizer are tokens of their vocabulary.
//! Proves `V` of `tokens::CharTokenizer`.
use typed_transformer::{tokens::CharTokenizer, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn first(alphabet: &CharTokenizer<Sounds>) {
    let _letters: Result<Vec<Fin<Letters>>, TokenError> = alphabet.encode("a");
}

fn main() {}
