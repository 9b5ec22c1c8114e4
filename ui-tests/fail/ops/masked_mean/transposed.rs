//! The padding of a mean has the first axes of the tensor, in their order.
//! Right with `BatchFirst` for `LengthFirst` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; }

type BatchFirst = PaddingMask<Batch, SrcLen>;
type LengthFirst = PaddingMask<SrcLen, Batch>;

fn pool(encoded: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, padding: &LengthFirst) {
    let _pooled = masked_mean(encoded, padding).unwrap();
}

fn main() {}
