//! A contraction sums over all columns, not over this rank's part.
//! Right with `HiddenDim` for `Part` in line 10.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

type Part = Shard<HiddenDim, Tp>;

fn f(layer: &Linear<HiddenDim, EmbedDim, f32, Cpu>, hidden: Tensor<(Batch, SeqLen, Part), f32, Cpu>) {
    let _ = layer.forward(hidden).unwrap();
}

fn main() {}
