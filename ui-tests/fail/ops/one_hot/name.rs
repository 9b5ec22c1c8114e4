//! One-hot vectors are over the axis of the indices.
//! Covers `Name` of `ops::one_hot`.
//! Right with `NumExperts` for `NumHeads` in line 8.
use typed_transformer::{ops::one_hot, prelude::*, tokens::Indices};

dims! { NumExperts = 4; NumHeads = 4; SrcLen = 5; }

fn one_hots(chosen: &Indices<(SrcLen,), NumHeads>) -> Tensor<(SrcLen, NumExperts), f32, Cpu> {
    one_hot(&Cpu::default(), chosen)
}

fn main() {}
