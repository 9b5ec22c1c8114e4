//! A softmax over a dimension needs all of it, not this rank's part.
//! Right with `HiddenDim` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;
type Columns = Part;

fn f(hidden: Tensor<(Batch, SeqLen, Columns), f32, Cpu>) {
    let _ = softmax_over(hidden, axis::<Columns>()).unwrap();
}

fn main() {}
