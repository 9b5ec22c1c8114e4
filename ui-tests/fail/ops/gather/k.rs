//! The result has the axes of the indices.
//! Covers `K` of `ops::gather`.
//! Right with `Chosen` for `Others` in line 9.
use typed_transformer::{ops::gather, prelude::*, tokens::Indices};

dims! { NumExperts = 4; Chosen = 2; Others = 2; SrcLen = 5; }

fn weights(gates: Tensor<(SrcLen, NumExperts), f32, Cpu>, experts: &Indices<(SrcLen, Chosen), NumExperts>) {
    let _weights: Tensor<(SrcLen, Others), f32, Cpu> = gather(gates, axis::<NumExperts>(), experts);
}

fn main() {}
