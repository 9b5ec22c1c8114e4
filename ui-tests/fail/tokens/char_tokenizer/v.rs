//! A character tokenizer returns tokens of its own vocabulary.
//! Covers `V` of `tokens::CharTokenizer`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::{tokens::CharTokenizer, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn first(alphabet: &CharTokenizer<Sounds>) {
    let _letters: Result<Vec<Fin<Letters>>, TokenError> = alphabet.encode("a");
}

fn main() {}
