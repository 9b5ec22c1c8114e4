//! A rank's part is not the whole.
//! Right with `HiddenDim` for `Part` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;

fn f(x: Tensor<(Batch, SeqLen, Part), f32, Cpu>) -> Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> {
    residual(x.clone(), x)
}

fn main() {}
