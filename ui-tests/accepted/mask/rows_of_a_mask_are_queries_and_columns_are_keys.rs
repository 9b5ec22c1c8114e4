//! A mask says of each query which keys it sees, not the other way round.
use typed_transformer::prelude::*;

dims! { TgtLen = 4; SrcLen = 4; NumHeads = 4; HeadDim = 2; Batch; }

type SourcesOfTargets = AttentionMask<Batch, TgtLen, SrcLen>;
type TargetsOfSources = AttentionMask<Batch, SrcLen, TgtLen>;

fn weights(
    target: Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>,
    source: Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>,
    mask: &SourcesOfTargets,
) -> Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu> {
    attention_weights(target, source, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
