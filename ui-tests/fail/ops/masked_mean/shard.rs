//! A mean is over a whole axis; a rank has a part of it.
//! Right with `SeqLen` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { World; }
dims! { EmbedDim = 8; SeqLen; Batch; }

type Part = Shard<SeqLen, World>;
type Len = Part;

fn pool(features: Tensor<(Batch, Len, EmbedDim), f32, Cpu>, padding: &Tensor<(Batch, Len), bool, Cpu>) {
    let _pooled = masked_mean(features, padding).unwrap();
}

fn main() {}
