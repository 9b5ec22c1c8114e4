//! The rows of the weight are the columns of the output.
//! Covers `M` of `tensor_parallel::linear_row`.
//! Right with `EmbedDim` for the second `HiddenDim` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Partial, Shard}, tensor_parallel::linear_row};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(hidden: Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, weight: &Tensor<(HiddenDim, Shard<HiddenDim, Tp>), f32, Cpu>) -> Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    linear_row(hidden, weight)
}

fn main() {}
