//! Shards meet the part of the weight that belongs to them.
//! Covers `Columns` of `tensor_parallel::linear_row`.
//! Right with `Part` for `HiddenDim` in line 14.
//! Mutants cover `B` by `Batch`, `M` by `EmbedDim`, `S` by `SeqLen` of `tensor_parallel::linear_row`.
use typed_transformer::{prelude::*, ranks, ranks::{Partial, Shard}, tensor_parallel::linear_row};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;

fn f(
    hidden: Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>,
    weight: &Tensor<(EmbedDim, HiddenDim), f32, Cpu>,
) -> Result<Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>, OpError> {
    linear_row(hidden, weight)
}

fn main() {}
