//! The weight of a tensor that has entered is a rank's part, not all of it.
//! Right with `Part` for `HiddenDim` in line 12.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::{Entered, linear_column}};

dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }
ranks! { Tp = 2; }

type Part = Shard<HiddenDim, Tp>;

fn f(
    x: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
) {
    let _hidden = linear_column(x, weight, None);
}

fn main() {}
