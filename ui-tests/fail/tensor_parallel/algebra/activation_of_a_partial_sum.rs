//! An activation is applied after the sum over the ranks, not to the terms.
//! Right with `Sum` for `Terms` in line 11.
use typed_transformer::{ops::{Activation, GeluTanh}, prelude::*, ranks, ranks::Partial};

ranks! { Tp = 2; }
dims! { M = 8; S; B; }

type Sum = Tensor<(B, S, M), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn f(terms: Terms) -> Result<Sum, OpError> {
    GeluTanh::apply(terms)
}

fn main() {}
