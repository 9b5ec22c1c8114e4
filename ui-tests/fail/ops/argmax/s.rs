//! Argmax returns one token per position of the logits.
//! Covers `S` of `ops::argmax`.
//! Right with `TgtLen` for `SrcLen` in line 10.
use typed_transformer::{ops::argmax, prelude::*};

dims! { Letters = 28; SrcLen = 4; TgtLen = 4; Batch; }

fn written(logits: &Tensor<(Batch, TgtLen, Letters), f32, Cpu>) {
    let ids = argmax(logits);
    let _ids: TokenIds<Batch, SrcLen, Letters> = ids;
}

fn main() {}
