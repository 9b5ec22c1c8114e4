//! A bias is added after the sum over the ranks, not to the terms.
//! Right with `Sum` for `Terms` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::Partial};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Sum = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn f(terms: Terms, bias: &Tensor<(EmbedDim,), f32, Cpu>) -> Result<Sum, OpError> {
    typed_transformer::ops::add(terms, bias)
}

fn main() {}
