//! Indices of one shape are not those of another.
//! Covers `Dims` of `tokens::Indices`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Axis` by `NumExperts` of `tokens::Indices`.
use typed_transformer::{prelude::*, tokens::Indices};

dims! { NumExperts = 4; SrcLen = 5; TgtLen = 7; }

fn route(chosen: Indices<(SrcLen,), NumExperts>) -> Indices<(TgtLen,), NumExperts> {
    chosen
}

fn main() {}
