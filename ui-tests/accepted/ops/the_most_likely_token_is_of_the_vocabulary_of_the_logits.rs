//! Logits choose among the tokens of their own vocabulary.
use typed_transformer::{ops::most_likely, prelude::*};

dims! { Letters = 28; Sounds = 28; SeqLen; Batch; }

fn spoken(logits: &Tensor<(Batch, SeqLen, Sounds), f32, Cpu>) -> TokenIds<Batch, SeqLen, Sounds> {
    let ids = most_likely(logits);
    ids
}

fn main() {}
