//! A residual adds the output after the sum over the ranks.
//! Right with `Sum` for `Terms` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::Partial};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Sum = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type Terms = Partial<Sum, Tp>;

fn f(x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, output: Terms) -> Sum {
    residual(x, output)
}

fn main() {}
