//! A token is of the vocabulary that it was read from.
//! Proves `N` of `tokens::Fin`.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; SrcLen = 5; Batch; }

fn first(ids: &TokenIds<Batch, SrcLen, Letters>) -> Option<Vec<Fin<Sounds>>> {
    ids.row(0)
}

fn main() {}
