//! The highest elements keep the other axes.
//! Covers `Dims` of `ops::top_k`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::top_k, prelude::*};

dims! { Experts = 4; Chosen = 2; SrcLen = 5; TgtLen = 5; }

fn weights(gates: Tensor<(SrcLen, Experts), f32, Cpu>) -> Tensor<(TgtLen, Chosen), f32, Cpu> {
    let (weights, _experts) = top_k(gates, axis::<Experts>(), Chosen);
    weights
}

fn main() {}
