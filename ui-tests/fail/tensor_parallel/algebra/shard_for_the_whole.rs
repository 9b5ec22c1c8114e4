//! A rank's part is not the whole.
//! Right with `HiddenDim` for `Part` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;
type Hidden<Columns> = Tensor<(Batch, SeqLen, Columns), f32, Cpu>;

fn f(part: Hidden<Part>, whole: Hidden<HiddenDim>) -> Result<Hidden<HiddenDim>, OpError> {
    residual(whole, part)
}

fn main() {}
