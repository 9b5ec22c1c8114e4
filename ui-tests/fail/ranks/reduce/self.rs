//! The ranks sum numbers and tensors, not tokens.
//! Covers `Self` of `ranks::Reduce`.
//! Right with `weight` for `token` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::Reduce};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn sum<Value: Reduce>(_: Value) {}

fn f(weight: Tensor<(Letters,), f32, Cpu>, token: Fin<Letters>) {
    let _ = &weight;
    sum(token);
}

fn main() {}
