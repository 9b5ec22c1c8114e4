//! A weight that all ranks have would get the term of this rank's positions.
//! Right with `SeqLen` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; SeqLen = 6; Batch; }

type Part = Shard<SeqLen, Tp>;
type Len = Part;

fn f(x: Tensor<(Batch, Len, EmbedDim), f32, Cpu>, weight: &Tensor<(EmbedDim,), f32, Cpu>) {
    let _ = rms_norm(x, weight, 1e-6).unwrap();
}

fn main() {}
