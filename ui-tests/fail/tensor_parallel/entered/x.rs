//! A tensor that has entered keeps its dimensions.
//! Covers `X` of `tensor_parallel::Entered`.
//! Right with `SeqLen` for `OtherLen` in line 9.
use typed_transformer::{prelude::*, ranks, tensor_parallel::Entered};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; OtherLen; Batch; }

fn f(x: Entered<Tensor<(Batch, OtherLen, EmbedDim), f32, Cpu>, Tp>) -> Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> {
    x.with_empty_tape()
}

fn main() {}
