//! Indices that differ along the batch have the batch of the tensor.
//! Covers `Places` of `ops::gather`.
//! Right with `Batch` for `Other` in line 10.
use typed_transformer::{ops::gather, prelude::*, tokens::Indices};

dims! { SeqLen = 5; Kept = 2; EmbedDim = 8; Batch; Other; }

fn keep(
    x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    kept: &Indices<(Other, Kept), SeqLen>,
) -> Result<Tensor<(Batch, Kept, EmbedDim), f32, Cpu>, OpError> {
    gather(x, axis::<SeqLen>(), kept)
}

fn main() {}
