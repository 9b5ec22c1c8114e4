//! There is a vector for each sequence of the batch.
//! Covers `B` of `models::bert::Bert::pooled`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `EmbedDim` of `models::bert::Bert::pooled`.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { Letters = 28; TokenTypes = 2; MaxLen = 16; EmbedDim = 8; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Reader: BertConfig<VocabSize = Letters, TokenTypes = TokenTypes, MaxSeqLen = MaxLen, EmbedDim = EmbedDim> {}

fn pooled<Config: Reader>(
    model: &Bert<Config, f32, Cpu>,
    states: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, EmbedDim), f32, Cpu>, OpError> {
    model.pooled(states)
}

fn main() {}
