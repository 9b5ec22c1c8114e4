//! There is a target for each source of the batch.
//! Covers `B` of `models::t5::T5::forward`.
//! Right with `Batch` for `OtherBatch` in line 13.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

trait Writer: T5Config<VocabSize = Letters> {}

fn logits<Config: Writer>(
    model: &T5<Config, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<OtherBatch, TgtLen, Letters>,
) {
    let _logits = model.forward(source, target, NoneTape);
}

fn main() {}
