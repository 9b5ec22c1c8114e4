//! A term is one of a sum over the ranks that divide the columns.
//! Right with `Tp` for `Data` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::{Partial, Shard}, tensor_parallel::linear_row};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(
    hidden: Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>,
    weight: &Tensor<(EmbedDim, Shard<HiddenDim, Tp>), f32, Cpu>,
) -> Result<Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Data>, OpError> {
    linear_row(hidden, weight)
}

fn main() {}
