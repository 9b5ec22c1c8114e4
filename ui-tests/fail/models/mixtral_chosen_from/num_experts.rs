//! No more experts compute a token than there are.
//! Covers `NumExperts` of `models::mixtral::ChosenFrom`.
//! Right with `NumExperts` for `One` in line 8.
use typed_transformer::{models::mixtral::ChosenFrom, prelude::*};

dims! { NumExperts = 4; One = 1; ExpertsPerToken = 2; TooMany = 5; }

fn choose<C: ChosenFrom<One>>() {}

fn choose_all() {
    choose::<ExpertsPerToken>();
}

fn main() {}
