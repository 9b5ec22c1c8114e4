//! What a model has read has the length of the source.
//! Covers `Src` of `models::t5::T5::encode`.
//! Right with `SrcLen` for `TgtLen` in line 13.
//! Mutants cover `B` by `Batch` of `models::t5::T5::encode`.
use typed_transformer::{models::t5::{EncodedT5, T5, T5Config}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

trait Writer: T5Config<VocabSize = Letters> {}

fn encode<'a, Config: Writer>(
    model: &'a T5<Config, f32, Cpu>,
    source: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<EncodedT5<'a, Batch, SrcLen, Config, f32, Cpu>, OpError> {
    model.encode(source)
}

fn main() {}
