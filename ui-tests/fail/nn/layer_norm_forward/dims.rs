//! A norm keeps all axes.
//! Covers `Dims` of `nn::LayerNorm::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{nn::LayerNorm, prelude::*};

dims! { EmbedDim = 8; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn normalized(
    norm: &LayerNorm<EmbedDim, f32, Cpu>,
    x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    norm.forward(x, 1e-5)
}

fn main() {}
