//! An activation is applied after the sum over the ranks, not to the terms.
//! Right with `Sum` for `Terms` in line 11.
use typed_transformer::{ops::maximum, prelude::*, ranks, ranks::Partial};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Sum = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn relu(x: Terms, zeros: &Tensor<(EmbedDim,), f32, Cpu>) -> Sum {
    maximum(x, zeros)
}

fn main() {}
