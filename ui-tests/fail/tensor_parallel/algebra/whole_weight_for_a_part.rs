//! The weight of a tensor that has entered is a rank's part, not all of it.
//! Right with `Part` for `Whole` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::{Entered, linear_column}};

dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }
ranks! { Tp = 2; }

type Whole = HiddenDim;
type Part = Shard<HiddenDim, Tp>;

fn f(
    x: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp>,
    weight: &Tensor<(Whole, EmbedDim), f32, Cpu>,
) {
    let _hidden = linear_column(x, weight, None);
}

fn main() {}
