//! What is most likely in one batch says nothing about another.
//! Proves `B` of `ops::most_likely`.
use typed_transformer::{ops::most_likely, prelude::*};

dims! { Letters = 28; SeqLen; Batch = 3; OtherBatch = 3; }

fn written(logits: &Tensor<(Batch, SeqLen, Letters), f32, Cpu>) {
    let ids = most_likely(logits);
    let _ids: TokenIds<OtherBatch, SeqLen, Letters> = ids;
}

fn main() {}
