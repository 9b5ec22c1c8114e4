//! What is most likely in one batch says nothing about another.
use typed_transformer::{ops::most_likely, prelude::*};

dims! { Letters = 28; SeqLen; Batch = 3; OtherBatch = 3; }

fn written(
    logits: &Tensor<(Batch, SeqLen, Letters), f32, Cpu>,
) -> TokenIds<OtherBatch, SeqLen, Letters> {
    let ids = most_likely(logits);
    ids
}

fn main() {}
