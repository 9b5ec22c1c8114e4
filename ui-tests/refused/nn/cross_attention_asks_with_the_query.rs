//! The target asks and the source answers, not the other way round.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; SrcDim = 8; TgtDim = 8; Batch; }

type TargetAsksSource<A> = CrossAttention<TgtDim, SrcDim, A, f32, Cpu>;
type SourceAsksTarget<A> = CrossAttention<SrcDim, TgtDim, A, f32, Cpu>;

fn attend<A: Arch>(
    attention: &SourceAsksTarget<A>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) {
    let _answers = attention.forward(target, source, target_padding, source_padding);
}

fn main() {}
