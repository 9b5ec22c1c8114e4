//! The highest elements keep the other axes.
//! Covers `Dims` of `ops::top_k`.
//! Right with `SrcLen` for `TgtLen` in line 11.
//! Mutants cover `K` by `ExpertsPerToken`, `Name` by `NumExperts` of `ops::top_k`.
use typed_transformer::{ops::top_k, prelude::*};

dims! { NumExperts = 4; ExpertsPerToken = 2; SrcLen = 5; TgtLen = 5; }

type Highest<Len> = (Tensor<(Len, ExpertsPerToken), f32, Cpu>, Indices<(Len, ExpertsPerToken), NumExperts>);

fn highest(gates: Tensor<(SrcLen, NumExperts), f32, Cpu>) -> Result<Highest<TgtLen>, OpError> {
    top_k(gates, axis::<NumExperts>(), ExpertsPerToken)
}

fn main() {}
