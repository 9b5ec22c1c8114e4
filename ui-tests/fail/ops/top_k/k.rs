//! No more elements are chosen than there are.
//! Covers `K` of `ops::top_k`.
//! Right with `ExpertsPerToken` for `TooMany` in line 9.
use typed_transformer::{ops::top_k, prelude::*};

dims! { NumExperts = 4; ExpertsPerToken = 2; TooMany = 5; SrcLen = 5; }

fn route(gates: Tensor<(SrcLen, NumExperts), f32, Cpu>) {
    let _chosen = top_k(gates, axis::<NumExperts>(), TooMany);
}

fn main() {}
