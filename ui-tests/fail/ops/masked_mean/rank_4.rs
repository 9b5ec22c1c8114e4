//! The padding has the first axes of the tensor.
//! Right with `PerHead` for `PerToken` in line 11.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; SrcLen = 5; EmbedDim = 8; Batch; }

type Heads = Tensor<(Batch, NumHeads, SrcLen, EmbedDim), f32, Cpu>;
type PerHead = Tensor<(Batch, NumHeads, SrcLen), bool, Cpu>;
type PerToken = Tensor<(Batch, SrcLen), bool, Cpu>;

fn pool(heads: Heads, padding: &PerToken) {
    let _pooled = masked_mean(heads, padding);
}

fn main() {}
