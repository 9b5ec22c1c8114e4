//! There is a most likely token for each position that has logits.
//! Proves `S` of `ops::argmax`.
use typed_transformer::{ops::argmax, prelude::*};

dims! { Letters = 28; SrcLen = 4; TgtLen = 4; Batch; }

fn written(logits: &Tensor<(Batch, TgtLen, Letters), f32, Cpu>) {
    let ids = argmax(logits);
    let _ids: TokenIds<Batch, SrcLen, Letters> = ids;
}

fn main() {}
