//! A weight that all ranks have would get the term of this rank's positions, from a contraction too.
//! Right with `SeqLen` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen = 6; }

type Part = Shard<SeqLen, Tp>;
type Len = Part;

fn f(x: Tensor<(Len, EmbedDim), f32, Cpu>, weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>) {
    let _ = einsum!(x: (Len, EmbedDim), weight: (HiddenDim, EmbedDim) -> (Len, HiddenDim)).unwrap();
}

fn main() {}
