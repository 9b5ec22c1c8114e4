//! Padding says of each position whether it is a token; the ids do not.
//! Covers `Keeps` of `ops::kl_divergence`.
//! Right with `padding` for `ids` in line 10.
use typed_transformer::{ops::kl_divergence, prelude::*};

dims! { VocabSize = 28; SrcLen = 5; Batch; }

type Logits = Tensor<(Batch, SrcLen, VocabSize), f32, Cpu>;
fn distill(logits: Logits, teacher: &Logits, ids: &TokenIds<Batch, SrcLen, VocabSize>, padding: &PaddingMask<Batch, SrcLen>) {
    let _loss = kl_divergence(logits, teacher, ids, Reduction::MeanAll).unwrap();
}

fn main() {}
