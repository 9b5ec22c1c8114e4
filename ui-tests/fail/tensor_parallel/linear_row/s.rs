//! A linear map keeps the length.
//! Covers `S` of `tensor_parallel::linear_row`.
//! Right with `SeqLen` for `OtherLen` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Partial, Shard}, tensor_parallel::linear_row};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; OtherLen; Batch; }

fn f(hidden: Tensor<(Batch, OtherLen, Shard<HiddenDim, Tp>), f32, Cpu>, weight: &Tensor<(EmbedDim, Shard<HiddenDim, Tp>), f32, Cpu>) -> Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    linear_row(hidden, weight)
}

fn main() {}
