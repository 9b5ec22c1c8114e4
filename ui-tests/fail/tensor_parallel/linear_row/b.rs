//! A linear map keeps the batch.
//! Covers `B` of `tensor_parallel::linear_row`.
//! Right with `Batch` for `Other` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Partial, Shard}, tensor_parallel::linear_row};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; Other; }

fn f(hidden: Tensor<(Other, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, weight: &Tensor<(EmbedDim, Shard<HiddenDim, Tp>), f32, Cpu>) -> Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    linear_row(hidden, weight)
}

fn main() {}
