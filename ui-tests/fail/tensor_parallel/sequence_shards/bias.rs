//! A bias that all ranks have would get the term of this rank's columns.
//! Right with `HiddenDim` for `Part` in line 9.
use typed_transformer::{ops::add, prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; SeqLen = 6; Batch; }

type Part = Shard<HiddenDim, Tp>;
type Columns = Part;

fn f(x: Tensor<(Batch, SeqLen, Columns), f32, Cpu>, bias: &Tensor<(SeqLen,), f32, Cpu>) {
    let _ = add(x, bias).unwrap();
}

fn main() {}
