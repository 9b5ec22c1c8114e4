//! A sequence is at most as long as its model allows.
//! Covers `S` of `models::mixtral::Mixtral::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::{Mixtral, MixtralConfig}}, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: LlamaConfig<VocabSize = Letters, MaxSeqLen = MaxLen> + MixtralConfig {}

fn logits<Config: Writer>(model: &Mixtral<Config, f32, Cpu>, ids: &TokenIds<Batch, TgtLen, Letters>) {
    let _logits = model.forward(ids, NoneTape);
}

fn main() {}
