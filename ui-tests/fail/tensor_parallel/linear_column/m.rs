//! A weight has the columns of the input.
//! Covers `M` of `tensor_parallel::linear_column`.
//! Right with `EmbedDim` for the second `HiddenDim` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::{Entered, linear_column}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(x: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>, weight: &Tensor<(Shard<HiddenDim, Tp>, HiddenDim), f32, Cpu>) -> Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu> {
    linear_column(x, weight, None)
}

fn main() {}
