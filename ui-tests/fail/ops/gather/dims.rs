//! The indices have the other axes of the tensor.
//! Covers `Dims` of `ops::gather`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::gather, prelude::*, tokens::Indices};

dims! { NumExperts = 4; ExpertsPerToken = 2; SrcLen = 5; TgtLen = 5; }

fn weights(
    gates: Tensor<(SrcLen, NumExperts), f32, Cpu>,
    experts: &Indices<(TgtLen, ExpertsPerToken), NumExperts>,
) -> Tensor<(SrcLen, ExpertsPerToken), f32, Cpu> {
    gather(gates, axis::<NumExperts>(), experts)
}

fn main() {}
