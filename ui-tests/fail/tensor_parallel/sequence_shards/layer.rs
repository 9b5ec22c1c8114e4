//! A layer that all ranks have would get the term of this rank's positions.
//! Right with `SeqLen` for `Part` in line 9.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen = 6; Batch; }

type Part = Shard<SeqLen, Tp>;
type Len = Part;

fn f(layer: &Linear<EmbedDim, HiddenDim, f32, Cpu>, x: Tensor<(Batch, Len, EmbedDim), f32, Cpu>) {
    let _ = layer.forward(x).unwrap();
}

fn main() {}
