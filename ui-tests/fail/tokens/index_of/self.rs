//! A dimension is not an index of itself.
//! Covers `Self` of `tokens::IndexOf`.
//! Right with `expert` for `Experts` in line 13.
use typed_transformer::{prelude::*, tokens::IndexOf};

dims! { Experts = 4; }

fn number(index: impl IndexOf<Experts>) -> usize {
    index.index()
}

fn last(expert: Fin<Experts>) -> usize {
    number(Experts)
}

fn main() {}
