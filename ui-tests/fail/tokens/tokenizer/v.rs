//! A tokenizer returns tokens of its own vocabulary.
//! Covers `V` of `tokens::Tokenizer`.
//! Needs the feature `tokenizers`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::{tokens::{Tokenizer, TokenizerError}, prelude::*};

dims! { Letters = 28; Sounds = 28; }

fn first(tokenizer: &Tokenizer<Sounds>) {
    let _letters: Result<Vec<Fin<Letters>>, TokenizerError> = tokenizer.encode("a");
}

fn main() {}
