//! Argmax keeps the batch of the logits.
//! Covers `B` of `ops::argmax`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{ops::argmax, prelude::*};

dims! { Letters = 28; SeqLen; Batch = 3; OtherBatch = 3; }

fn written(logits: &Tensor<(Batch, SeqLen, Letters), f32, Cpu>) {
    let ids = argmax(logits);
    let _ids: TokenIds<OtherBatch, SeqLen, Letters> = ids;
}

fn main() {}
