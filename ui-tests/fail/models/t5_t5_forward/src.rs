//! The source comes before the target.
//! Covers `Src` of `models::t5::T5::forward`.
//! Right with `SrcLen` for the first `TgtLen` in line 16.
//! Mutants cover `B` by `Batch`, `Tgt` by `TgtLen` of `models::t5::T5::forward`.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

trait Writer: T5Config<VocabSize = Letters> {}

fn logits<Config: Writer>(
    model: &T5<Config, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, TgtLen, Letters>,
) {
    let _logits = model.forward::<Batch, TgtLen, TgtLen, NoneTape>(source, target, NoneTape).unwrap();
}

fn main() {}
