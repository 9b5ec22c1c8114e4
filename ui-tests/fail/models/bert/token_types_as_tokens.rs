//! Token types are not tokens.
//! Right with `ids` for the first `types` in line 14.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { Letters = 28; TokenTypes = 2; MaxLen = 16; EmbedDim = 8; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Reader: BertConfig<VocabSize = Letters, TokenTypes = TokenTypes, MaxSeqLen = MaxLen, EmbedDim = EmbedDim> {}

fn states<Config: Reader>(
    model: &Bert<Config, f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
    types: &TokenIds<Batch, SrcLen, TokenTypes>,
) {
    let _states = model.forward(types, types, NoneTape).unwrap();
}

fn main() {}
