//! There is a type for each token of a sequence.
//! Covers `S` of `models::bert::Bert::forward`.
//! Right with `SrcLen` for `TgtLen` in line 14.
//! Mutants cover `B` by `Batch` of `models::bert::Bert::forward`.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { Letters = 28; TokenTypes = 2; MaxLen = 16; EmbedDim = 8; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Reader: BertConfig<VocabSize = Letters, TokenTypes = TokenTypes, MaxSeqLen = MaxLen, EmbedDim = EmbedDim> {}

fn states<Config: Reader>(
    model: &Bert<Config, f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
    types: &TokenIds<Batch, TgtLen, TokenTypes>,
) {
    let _states = model.forward(ids, types, NoneTape).unwrap();
}

fn main() {}
