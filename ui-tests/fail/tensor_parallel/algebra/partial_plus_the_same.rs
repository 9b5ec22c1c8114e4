//! What all ranks have is not a term of a sum: it would be added once for each rank.
//! Right with `Terms` for `Sum` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::Partial, tensor_parallel::add};

ranks! { Tp = 2; }
dims! { M = 8; S; B; }

type Sum = Tensor<(B, S, M), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn f(terms: Terms, x: Sum) -> Result<Terms, OpError> {
    add(terms, x)
}

fn main() {}
