//! Query and key of cross-attention have the same tape.
//! Covers `T` of `nn::CrossAttention::forward`.
//! Right with `Recorded` for `NoneTape` in line 14.
//! Mutants cover `B` by `Batch`, `K` by `SrcLen`, `Q` by `TgtLen` of `nn::CrossAttention::forward`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; Batch; }

type Recorded = typed_transformer::train::Recording<(), f32, Cpu>;

fn attend<A: Arch>(
    attention: &CrossAttention<TgtDim, SrcDim, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu, Recorded>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu, NoneTape>,
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, TgtDim), f32, Cpu, Recorded>, OpError> {
    attention.forward(target, source, target_padding, source_padding)
}

fn main() {}
