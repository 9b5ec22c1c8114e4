//! There are logits for each token of the target.
//! Covers `Tgt` of `models::t5::T5::forward`.
//! Right with `TgtLen` for `SrcLen` in line 14.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

trait Writer: T5Config<VocabSize = Letters> {}

fn logits<Config: Writer>(
    model: &T5<Config, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(Batch, SrcLen, Letters), f32, Cpu> {
    model.forward(source, target, NoneTape)
}

fn main() {}
