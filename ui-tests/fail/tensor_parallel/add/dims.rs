//! Terms keep their dimensions.
//! Covers `Dims` of `tensor_parallel::add`.
//! Right with `EmbedDim` for `HiddenDim` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::Partial, tensor_parallel::add};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

type Terms<Axis> = Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Axis>;

fn f(terms: Partial<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, Tp>, other: Terms<Tp>) -> Terms<Tp> {
    add(terms, other)
}

fn main() {}
