//! A model keeps the batch.
//! Covers `B` of `models::gemma3::Gemma3::forward`.
//! Right with `Batch` for `OtherBatch` in line 16.
//! Mutants cover `S` by `SrcLen` of `models::gemma3::Gemma3::forward`.
use typed_transformer::{
    models::gemma3::{Gemma3, Gemma3Config},
    prelude::*,
};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: Gemma3Config<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn logits<Config: Writer>(
    model: &Gemma3<Config, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, Letters), f32, Cpu>, OpError> {
    model.forward(ids, NoneTape)
}

fn main() {}
