//! An operation that was started gives the value that it was started for.
//! Covers `Value` of `ranks::Pending`.
//! Right with `SeqLen` for `OtherLen` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Pending};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(sum: Pending<Tensor<(OtherLen,), f32, Cpu>>) {
    let _sum: Pending<Tensor<(SeqLen,), f32, Cpu>> = sum;
}

fn main() {}
