//! A tensor enters before the ranks compute with their parts.
//! Covers `Input` of `tensor_parallel::linear_column`.
//! Right with `In` for `Same` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::{Entered, linear_column}};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

type Same = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type In = Entered<Same, Tp>;

fn f(
    x: Same,
    weight: &Tensor<(Shard<HiddenDim, Tp>, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, OpError> {
    linear_column(x, weight, None)
}

fn main() {}
