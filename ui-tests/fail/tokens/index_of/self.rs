//! A dimension is not an index of itself.
//! Covers `Self` of `tokens::IndexOf`.
//! Right with `expert` for `NumExperts` in line 13.
use typed_transformer::{prelude::*, tokens::IndexOf};

dims! { NumExperts = 4; }

fn number(index: impl IndexOf<NumExperts>) -> usize {
    index.index()
}

fn last(expert: Fin<NumExperts>) -> usize {
    number(NumExperts)
}

fn main() {}
