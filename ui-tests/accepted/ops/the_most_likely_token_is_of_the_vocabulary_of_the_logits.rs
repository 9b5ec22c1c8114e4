//! Logits choose among the tokens of their own vocabulary.
//! Proves `V` of `ops::argmax`.
use typed_transformer::{ops::argmax, prelude::*};

dims! { Letters = 28; Sounds = 28; SeqLen; Batch; }

fn spoken(logits: &Tensor<(Batch, SeqLen, Sounds), f32, Cpu>) {
    let ids = argmax(logits);
    let _ids: TokenIds<Batch, SeqLen, Sounds> = ids;
}

fn main() {}
