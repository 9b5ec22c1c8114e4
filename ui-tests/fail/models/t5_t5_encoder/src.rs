//! The encoder keeps the length of the source.
//! Covers `Src` of `models::t5::T5::encoder`.
//! Right with `SrcLen` for `TgtLen` in line 13.
//! Mutants cover `B` by `Batch` of `models::t5::T5::encoder`.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

trait Writer: T5Config<VocabSize = Letters> {}

fn encode<Config: Writer>(
    model: &T5<Config, f32, Cpu>,
    source: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, Config::EmbedDim), f32, Cpu>, OpError> {
    model.encoder(source, NoneTape)
}

fn main() {}
