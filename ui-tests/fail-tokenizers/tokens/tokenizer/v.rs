//! A tokenizer returns tokens of its own vocabulary.
//! Covers `V` of `tokens::Tokenizer`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::{tokens::{Tokenizer, TokenizerError}, prelude::*};

dims! { Letters = 28; Sounds = 28; }

fn first(tokenizer: &Tokenizer<Sounds>) {
    let _letters: Result<Vec<Fin<Letters>>, TokenizerError> = tokenizer.encode("a");
}

fn main() {}
