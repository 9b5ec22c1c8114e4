//! No more experts compute a token than there are.
//! Covers `Self` of `models::mixtral::ChosenFrom`.
//! Right with `Chosen` for `TooMany` in line 11.
use typed_transformer::{models::mixtral::ChosenFrom, prelude::*};

dims! { Experts = 4; One = 1; Chosen = 2; TooMany = 5; }

fn choose<C: ChosenFrom<Experts>>() {}

fn choose_all() {
    choose::<TooMany>();
}

fn main() {}
