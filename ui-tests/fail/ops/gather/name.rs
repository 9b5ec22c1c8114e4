//! The indices are those of the axis that they read.
//! Covers `Name` of `ops::gather`.
//! Right with `NumExperts` for `NumHeads` in line 11.
//! Mutants cover `Dims` by `SrcLen`, `K` by `Chosen` of `ops::gather`.
use typed_transformer::{ops::gather, prelude::*, tokens::Indices};

dims! { NumExperts = 4; NumHeads = 4; Chosen = 2; SrcLen = 5; }

fn weights(
    gates: Tensor<(SrcLen, NumExperts), f32, Cpu>,
    experts: &Indices<(SrcLen, Chosen), NumHeads>,
) -> Result<Tensor<(SrcLen, Chosen), f32, Cpu>, OpError> {
    gather(gates, axis::<NumExperts>(), experts)
}

fn main() {}
