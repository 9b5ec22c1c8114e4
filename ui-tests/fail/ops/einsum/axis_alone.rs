//! An axis of one operand alone is an axis of the result, in a generic function too.
//! Right with `Q` for the third `B` in line 9.
use typed_transformer::prelude::*;

fn scores<B: Dim, Q: Dim, K: Dim, M: Dim, T: Tape<f32, Cpu>>(
    query: Tensor<(B, Q, M), f32, Cpu, T>,
    key: Tensor<(B, K, M), f32, Cpu, T>,
) {
    let _scores = einsum!(query: (B, Q, M), key: (B, K, M) -> (B, K)).unwrap();
}

fn main() {}
