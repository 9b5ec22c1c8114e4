//! A bias has queries as rows and keys as columns, not the reverse.
//! Covers `Q` of `ops::AttentionOptions`.
//! Right with `OfTarget` for `OfSource` in line 15.
use typed_transformer::prelude::*;

dims! { SrcLen = 7; TgtLen = 7; NumHeads = 4; HeadDim = 2; Batch; }

type OfTarget = Tensor<(NumHeads, TgtLen, SrcLen), f32, Cpu>;
type OfSource = Tensor<(NumHeads, SrcLen, TgtLen), f32, Cpu>;

fn weights(
    target: Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>,
    source: Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
    bias: OfSource,
) -> Result<Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu>, OpError> {
    let options = AttentionOptions { bias: Some(bias), ..AttentionOptions::default() };
    attention_weights(target, source, mask, options)
}

fn main() {}
