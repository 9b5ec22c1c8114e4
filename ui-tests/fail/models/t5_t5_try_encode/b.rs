//! What a model has read belongs to one batch.
//! Covers `B` of `models::t5::T5::try_encode`.
//! Right with `Batch` for `OtherBatch` in line 12.
use typed_transformer::{models::t5::{EncodedT5, T5, T5Config}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

trait Writer: T5Config<VocabSize = Letters> {}

fn encode<'a, Config: Writer>(
    model: &'a T5<Config, f32, Cpu>,
    source: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Result<EncodedT5<'a, Batch, SrcLen, Config, f32, Cpu>, OpError> {
    model.try_encode(source)
}

fn main() {}
