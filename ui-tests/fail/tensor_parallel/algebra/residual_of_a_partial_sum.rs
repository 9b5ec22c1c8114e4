//! A residual adds the output after the sum over the ranks.
//! Right with `Sum` for `Terms` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::Partial};

ranks! { Tp = 2; }
dims! { M = 8; S; B; }

type Sum = Tensor<(B, S, M), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn f(x: Tensor<(B, S, M), f32, Cpu>, output: Terms) -> Result<Sum, OpError> {
    residual(x, output)
}

fn main() {}
