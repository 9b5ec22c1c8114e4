//! Terms of a sum over one axis of ranks stay so.
//! Covers `Axis` of `tensor_parallel::scale`.
//! Right with `Tp` for `Data` in line 12.
//! Mutants cover `Dims` by `EmbedDim` of `tensor_parallel::scale`.
use typed_transformer::{prelude::*, ranks, ranks::Partial, tensor_parallel::scale};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Terms<Axis> = Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Axis>;

fn f(terms: Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Data>) -> Result<Terms<Tp>, OpError> {
    scale(terms, 2.0)
}

fn main() {}
