//! A linear map keeps the length.
//! Covers `S` of `tensor_parallel::linear_column`.
//! Right with `SeqLen` for `OtherLen` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::{Entered, linear_column}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; OtherLen; Batch; }

fn f(x: Entered<Tensor<(Batch, OtherLen, EmbedDim), f32, Cpu>, Tp>, weight: &Tensor<(Shard<HiddenDim, Tp>, EmbedDim), f32, Cpu>) -> Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu> {
    linear_column(x, weight, None)
}

fn main() {}
