//! Concatenated tensors have their axes in one order.
//! Right with `BatchFirst` for `LengthFirst` in line 12.
use typed_transformer::prelude::*;

dims! { PrefixLen = 2; SeqLen = 4; EmbedDim = 8; Batch; }

type Prefix = Tensor<(Batch, PrefixLen, EmbedDim), f32, Cpu>;
type BatchFirst = Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>;
type LengthFirst = Tensor<(SeqLen, Batch, EmbedDim), f32, Cpu>;
type All = Tensor<(Batch, Sum<PrefixLen, SeqLen>, EmbedDim), f32, Cpu>;

fn with_prefix(prefix: Prefix, x: LengthFirst) -> Result<All, OpError> {
    concat(prefix, x, along::<PrefixLen, SeqLen>())
}

fn main() {}
