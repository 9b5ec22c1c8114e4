//! A tensor has entered the ranks that divide the weight.
//! Right with `Tp` for `Data` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::{Entered, linear_column}};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(
    x: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Data>,
    weight: &Tensor<(Shard<HiddenDim, Tp>, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, OpError> {
    linear_column(x, weight, None)
}

fn main() {}
