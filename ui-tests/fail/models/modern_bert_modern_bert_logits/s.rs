//! There are logits for each position of a sequence.
//! Covers `S` of `models::modern_bert::ModernBert::logits`.
//! Right with `SrcLen` for `TgtLen` in line 17.
//! Mutants cover `B` by `Batch` of `models::modern_bert::ModernBert::logits`.
use typed_transformer::{
    models::modern_bert::{ModernBert, ModernBertConfig},
    prelude::*,
};

dims! { Letters = 28; Width = 8; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Reader: ModernBertConfig<VocabSize = Letters, EmbedDim = Width> {}

fn logits<Config: Reader>(
    model: &ModernBert<Config, f32, Cpu>,
    states: Tensor<(Batch, SrcLen, Width), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, Letters), f32, Cpu>, OpError> {
    model.logits(states)
}

fn main() {}
