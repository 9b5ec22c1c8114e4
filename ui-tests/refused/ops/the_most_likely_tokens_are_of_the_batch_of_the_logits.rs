//! What is most likely in one batch says nothing about another.
//! Proves `B` of `ops::argmax`.
use typed_transformer::{ops::argmax, prelude::*};

dims! { Letters = 28; SeqLen; Batch = 3; OtherBatch = 3; }

fn written(logits: &Tensor<(Batch, SeqLen, Letters), f32, Cpu>) {
    let ids = argmax(logits);
    let _ids: TokenIds<OtherBatch, SeqLen, Letters> = ids;
}

fn main() {}
