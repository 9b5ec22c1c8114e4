//! The highest elements keep the other axes.
//! Covers `Dims` of `ops::top_k`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `K` by `ExpertsPerToken`, `Name` by `NumExperts` of `ops::top_k`.
use typed_transformer::{ops::top_k, prelude::*};

dims! { NumExperts = 4; ExpertsPerToken = 2; SrcLen = 5; TgtLen = 5; }

fn weights(gates: Tensor<(SrcLen, NumExperts), f32, Cpu>) -> Tensor<(TgtLen, ExpertsPerToken), f32, Cpu> {
    let (weights, _experts) = top_k(gates, axis::<NumExperts>(), ExpertsPerToken);
    weights
}

fn main() {}
