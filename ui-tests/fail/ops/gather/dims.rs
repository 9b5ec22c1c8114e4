//! The indices have the other axes of the tensor.
//! Covers `Dims` of `ops::gather`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::gather, prelude::*, tokens::Indices};

dims! { Experts = 4; Chosen = 2; SrcLen = 5; TgtLen = 5; }

fn weights(
    gates: Tensor<(SrcLen, Experts), f32, Cpu>,
    experts: &Indices<(TgtLen, Chosen), Experts>,
) -> Tensor<(SrcLen, Chosen), f32, Cpu> {
    gather(gates, axis::<Experts>(), experts)
}

fn main() {}
