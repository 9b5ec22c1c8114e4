//! A sequence starts with a token of its own vocabulary.
//! Covers `VocabSize` of `tokens::TokenIds`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; TgtLen = 7; Batch; }

fn decoder_inputs(
    target: TokenIds<Batch, TgtLen, Sounds>,
    start: Fin<Letters>,
) {
    let _inputs = target.teacher_forcing(start);
}

fn main() {}
