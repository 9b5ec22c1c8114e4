//! No more experts compute a token than there are.
//! Covers `Self` of `models::mixtral::ChosenFrom`.
//! Right with `ExpertsPerToken` for `TooMany` in line 11.
use typed_transformer::{models::mixtral::ChosenFrom, prelude::*};

dims! { NumExperts = 4; One = 1; ExpertsPerToken = 2; TooMany = 5; }

fn choose<C: ChosenFrom<NumExperts>>() {}

fn choose_all() {
    choose::<TooMany>();
}

fn main() {}
