//! No more elements are chosen than there are.
//! Covers `K` of `ops::top_k`.
//! Right with `Chosen` for `TooMany` in line 9.
use typed_transformer::{ops::top_k, prelude::*};

dims! { Experts = 4; Chosen = 2; TooMany = 5; SrcLen = 5; }

fn route(gates: Tensor<(SrcLen, Experts), f32, Cpu>) {
    let _chosen = top_k(gates, axis::<Experts>(), TooMany);
}

fn main() {}
