//! An activation is applied after the sum over the ranks, not to the terms.
//! Right with `Sum` for `Terms` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::Partial};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

use typed_transformer::ops::{Activation, Gelu};

type Sum = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn f(terms: Terms) -> Result<Sum, OpError> {
    Gelu::try_apply(terms)
}

fn main() {}
