//! Argmax returns tokens of the vocabulary of the logits.
//! Covers `V` of `ops::argmax`.
//! Right with `Sounds` for `Letters` in line 10.
use typed_transformer::{ops::argmax, prelude::*};

dims! { Letters = 28; Sounds = 28; SeqLen; Batch; }

fn spoken(logits: &Tensor<(Batch, SeqLen, Sounds), f32, Cpu>) {
    let ids = argmax(logits);
    let _ids: TokenIds<Batch, SeqLen, Letters> = ids;
}

fn main() {}
