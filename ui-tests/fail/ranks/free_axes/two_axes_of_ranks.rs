//! The rows of one axis of ranks are not those of another one.
//! Right with `World` for `Data` in line 8.
use typed_transformer::{ops::mul, prelude::*, ranks, ranks::Shard};

ranks! { World; Data; }
dims! { EmbedDim = 8; SeqLen = 5; Batch; }

type Weights = Tensor<(Shard<Batch, Data>, SeqLen), f32, Cpu>;

fn weighted(x: Tensor<(Shard<Batch, World>, SeqLen, EmbedDim), f32, Cpu>, weights: &Weights) {
    let _ = mul(x, weights).unwrap();
}

fn main() {}
