//! Indices of one axis are not those of another.
//! Covers `Axis` of `tokens::Indices`.
//! Right with `NumExperts` for `NumHeads` in line 8.
use typed_transformer::{prelude::*, tokens::Indices};

dims! { NumExperts = 4; NumHeads = 4; SrcLen = 5; }

fn route(chosen: Indices<(SrcLen,), NumHeads>) -> Indices<(SrcLen,), NumExperts> {
    chosen
}

fn main() {}
