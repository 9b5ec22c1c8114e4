//! Terms of sums over two axes of ranks do not mix.
//! Covers `Axis` of `tensor_parallel::add`.
//! Right with `Tp` for `Data` in line 13.
//! Mutants cover `Dims` by `EmbedDim` of `tensor_parallel::add`.
use typed_transformer::{prelude::*, ranks, ranks::Partial, tensor_parallel::add};

ranks! { Data; Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Terms<Axis> = Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Axis>;

fn f(
    terms: Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Data>,
    other: Terms<Tp>,
) -> Result<Terms<Tp>, OpError> {
    add(terms, other)
}

fn main() {}
