//! A streamed text takes tokens of its tokenizer.
//! Covers `V` of `tokens::TextStream`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::{prelude::*, tokens::TextStream};

dims! { Letters = 28; Sounds = 28; }

fn add(text: &mut TextStream<'_, Letters>, token: Fin<Sounds>) {
    let _text = text.push(token);
}

fn main() {}
