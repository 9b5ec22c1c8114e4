//! Logits choose among the tokens of their own vocabulary.
//! Proves `V` of `ops::most_likely`.
use typed_transformer::{ops::most_likely, prelude::*};

dims! { Letters = 28; Sounds = 28; SeqLen; Batch; }

fn spoken(logits: &Tensor<(Batch, SeqLen, Sounds), f32, Cpu>) {
    let ids = most_likely(logits);
    let _ids: TokenIds<Batch, SeqLen, Letters> = ids;
}

fn main() {}
