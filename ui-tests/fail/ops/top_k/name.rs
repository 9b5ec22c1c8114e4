//! The highest elements have indices of their own axis.
//! Covers `Name` of `ops::top_k`.
//! Right with `Experts` for `NumHeads` in line 8.
use typed_transformer::{ops::top_k, prelude::*, tokens::Indices};

dims! { Experts = 4; NumHeads = 4; Chosen = 2; SrcLen = 5; }

fn route(gates: Tensor<(SrcLen, Experts), f32, Cpu>) -> Indices<(SrcLen, Chosen), NumHeads> {
    let (_weights, experts) = top_k(gates, axis::<Experts>(), Chosen);
    experts
}

fn main() {}
