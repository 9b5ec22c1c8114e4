//! The masked mean uses the padding of its own sequence.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SrcLen = 4; TgtLen = 4; Batch; }

fn pool(
    features: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, TgtLen>,
) -> Tensor<(Batch, EmbedDim), f32, Cpu> {
    masked_mean(features, padding)
}

fn main() {}
