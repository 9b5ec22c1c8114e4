//! A sequence is at most as long as its model allows.
//! Covers `S` of `models::gpt2::Gpt2::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: Gpt2Config<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn logits<Config: Writer>(model: &Gpt2<Config, f32, Cpu>, ids: &TokenIds<Batch, TgtLen, Letters>) {
    let _logits = model.forward(ids, NoneTape);
}

fn main() {}
