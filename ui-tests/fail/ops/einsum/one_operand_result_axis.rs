//! The result of a single operand has axes of it.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::prelude::*;

dims! { Batch; SrcLen; TgtLen; EmbedDim = 8; }

fn sum<T: Tape<f32, Cpu>>(x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu, T>) {
    let _sum = einsum!(x: (Batch, SrcLen, EmbedDim) -> (EmbedDim, TgtLen));
}

fn main() {}
