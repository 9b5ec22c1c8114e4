//! A token belongs to the vocabulary that it was checked against.
//! Covers `N` of `tokens::Fin`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; SrcLen = 5; Batch; }

fn first(ids: &TokenIds<Batch, SrcLen, Letters>) -> Option<Vec<Fin<Sounds>>> {
    ids.row(0)
}

fn main() {}
