//! A mask over the keys of a window does not fit the scores over all keys.
//! Right with `Context` for `Window` in line 13.
//!
//! llmmanorg/llmman, issue 130: a mask over the 512 keys of a sliding window meets the scores of 662, and
//! `broadcast_add` fails in the third turn of a conversation.
use typed_transformer::prelude::*;

dims! { NumHeads = 8; HeadDim = 256; Window = 512; Context = 662; Batch = 1; }

fn attend(
    query: Tensor<(Batch, NumHeads, Context, HeadDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, Context, HeadDim), f32, Cpu>,
    mask: &AttentionMask<Batch, Context, Window>,
) -> Result<Tensor<(Batch, NumHeads, Context, Context), f32, Cpu>, OpError> {
    attention_weights(query, key, mask, AttentionOptions::default())
}

fn main() {}
