//! The mask is one over the dimensions of the tensor.
//! Covers `Keeps` of `ops::where_`.
//! Right with `SrcLen` for the second `TgtLen` in line 9.
use typed_transformer::{ops::where_, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; NumHeads = 2; Batch; }

fn hide(
    mask: &AttentionMask<Batch, TgtLen, TgtLen>,
    scores: Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu>,
) -> Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu> {
    where_(mask, scores, -1e9)
}

fn main() {}
