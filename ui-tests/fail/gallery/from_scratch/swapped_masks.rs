//! A decoder masks its own future in self-attention and the source's padding in cross-attention.
//! Right with `target_mask` for `src_mask` in line 18.
//!
//! *Transformer from Scratch* passes `src_mask` to the self-attention of its decoder and `target_mask` to
//! its cross-attention.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; HeadDim = 3; SrcLen; TgtLen; Batch; }

type Heads<Len> = Tensor<(Batch, NumHeads, Len, HeadDim), f32, Cpu>;

fn attend_to_itself(
    target: Heads<TgtLen>,
    src_mask: &AttentionMask<Batch, TgtLen, SrcLen>,
    target_mask: &AttentionMask<Batch, TgtLen, TgtLen>,
) -> Result<Tensor<(Batch, NumHeads, TgtLen, TgtLen), f32, Cpu>, OpError> {
    let _ = (src_mask, target_mask);
    attention_weights(target.clone(), target, src_mask, AttentionOptions::default())
}

fn main() {}
