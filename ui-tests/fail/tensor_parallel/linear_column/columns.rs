//! A rank has its part of the rows of the weight, not all of them.
//! Covers `Columns` of `tensor_parallel::linear_column`.
//! Right with `Part` for `HiddenDim` in line 14.
//! Mutants cover `B` by `Batch`, `M` by `EmbedDim`, `S` by `SeqLen` of `tensor_parallel::linear_column`.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::{Entered, linear_column}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;

fn f(
    x: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, Part), f32, Cpu>, OpError> {
    linear_column(x, weight, None)
}

fn main() {}
