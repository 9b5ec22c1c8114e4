//! A text that a search finds has tokens of the model's vocabulary.
//! Covers `V` of `generate::Beam`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::{generate::Beam, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn first(text: &Beam<Letters>) -> Fin<Sounds> {
    text.tokens[0]
}

fn main() {}
