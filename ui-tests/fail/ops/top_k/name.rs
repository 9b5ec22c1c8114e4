//! The highest elements have indices of their own axis.
//! Covers `Name` of `ops::top_k`.
//! Right with `NumExperts` for `NumHeads` in line 8.
use typed_transformer::{ops::top_k, prelude::*, tokens::Indices};

dims! { NumExperts = 4; NumHeads = 4; ExpertsPerToken = 2; SrcLen = 5; }

fn route(gates: Tensor<(SrcLen, NumExperts), f32, Cpu>) -> Indices<(SrcLen, ExpertsPerToken), NumHeads> {
    let (_weights, experts) = top_k(gates, axis::<NumExperts>(), ExpertsPerToken);
    experts
}

fn main() {}
