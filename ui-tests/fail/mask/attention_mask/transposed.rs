//! An attention mask has queries as rows and keys as columns, not the reverse.
//! Right with `SourcesOfTargets` for `TargetsOfSources` in line 13.
use typed_transformer::prelude::*;

dims! { TgtLen = 4; SrcLen = 4; NumHeads = 4; HeadDim = 2; Batch; }

type SourcesOfTargets = AttentionMask<Batch, TgtLen, SrcLen>;
type TargetsOfSources = AttentionMask<Batch, SrcLen, TgtLen>;

fn weights(
    target: Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>,
    source: Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>,
    mask: &TargetsOfSources,
) -> Result<Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu>, OpError> {
    attention_weights(target, source, mask, AttentionOptions::default())
}

fn main() {}
