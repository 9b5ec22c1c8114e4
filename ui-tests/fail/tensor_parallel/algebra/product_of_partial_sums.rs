//! The product of two terms is not a term of the product.
//! Right with `Sum` for `Terms` in line 13.
use typed_transformer::{prelude::*, ranks, ranks::Partial};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

use typed_transformer::ops::mul;

type Sum = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn f(terms: Terms, others: &Sum) -> Result<Sum, OpError> {
    mul(terms, others)
}

fn main() {}
