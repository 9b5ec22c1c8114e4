//! A mask over cached keys is not square: new queries see the cached keys and their own.
//! Right with `Total` for the second `Present` in line 16.
//!
//! meta-llama/llama, issue 899: the model makes a mask of `(seqlen, seqlen)` whatever is in its cache; with
//! more than one new token after the first call the scores are longer, and it fails when it runs.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; HeadDim = 3; Past = 7; Present = 9; Total: Sum<Past, Present>; Batch = 1; }

type Heads<Len> = Tensor<(Batch, NumHeads, Len, HeadDim), f32, Cpu>;

fn attend(
    query: Heads<Present>,
    past: Heads<Past>,
    present: Heads<Present>,
    mask: &AttentionMask<Batch, Present, Present>,
) -> Result<Tensor<(Batch, NumHeads, Present, Total), f32, Cpu>, OpError> {
    let keys: Heads<Total> = concat(past, present, along::<Past, Present>())?;
    attention_weights(query, keys, mask, AttentionOptions::default())
}

fn main() {}
