//! No more experts compute a token than there are.
//! Covers `Experts` of `models::mixtral::ChosenFrom`.
//! Right with `Experts` for `One` in line 8.
use typed_transformer::{models::mixtral::ChosenFrom, prelude::*};

dims! { Experts = 4; One = 1; Chosen = 2; TooMany = 5; }

fn choose<C: ChosenFrom<One>>() {}

fn choose_all() {
    choose::<Chosen>();
}

fn main() {}
