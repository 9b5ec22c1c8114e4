//! A sequence is at most as long as its model allows.
//! Covers `S` of `models::llama::Llama::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: LlamaConfig<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn logits<Config: Writer>(model: &Llama<Config, f32, Cpu>, ids: &TokenIds<Batch, TgtLen, Letters>) {
    let _logits = model.forward(ids, NoneTape);
}

fn main() {}
