//! A norm needs all columns, not this rank's part.
//! Right with `HiddenDim` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;
type Columns = Part;

fn f(hidden: Tensor<(Batch, SeqLen, Columns), f32, Cpu>, weight: &Tensor<(Columns,), f32, Cpu>) {
    let _ = layer_norm(hidden, weight, None, 1e-5).unwrap();
}

fn main() {}
