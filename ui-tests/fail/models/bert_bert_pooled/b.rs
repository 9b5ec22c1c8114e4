//! There is a vector for each sequence of the batch.
//! Covers `B` of `models::bert::Bert::pooled`.
//! Right with `Batch` for `OtherBatch` in line 12.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { Letters = 28; TokenTypes = 2; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Reader: BertConfig<VocabSize = Letters, TokenTypes = TokenTypes, MaxSeqLen = MaxLen> {}

fn pooled<Config: Reader>(
    model: &Bert<Config, f32, Cpu>,
    states: Tensor<(OtherBatch, SrcLen, Config::EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, Config::EmbedDim), f32, Cpu> {
    model.pooled(states)
}

fn main() {}
