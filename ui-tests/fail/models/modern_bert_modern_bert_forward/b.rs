//! A model keeps the batch.
//! Covers `B` of `models::modern_bert::ModernBert::forward`.
//! Right with `Batch` for `OtherBatch` in line 16.
//! Mutants cover `S` by `SrcLen` of `models::modern_bert::ModernBert::forward`.
use typed_transformer::{
    models::modern_bert::{ModernBert, ModernBertConfig},
    prelude::*,
};

dims! { Letters = 28; MaxLen = 16; Width = 8; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Reader: ModernBertConfig<VocabSize = Letters, MaxSeqLen = MaxLen, EmbedDim = Width> {}

fn states<Config: Reader>(
    model: &ModernBert<Config, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, Width), f32, Cpu>, OpError> {
    model.forward(ids, NoneTape)
}

fn main() {}
