//! A model and its teacher have the same vocabulary.
//! Covers `V` of `ops::kl_divergence`.
//! Right with `VocabSize` for `OtherVocab` in line 11.
//! Mutants cover `Dims` by `Batch`, `Positions` by `Batch` of `ops::kl_divergence`.
use typed_transformer::{ops::kl_divergence, prelude::*};

dims! { VocabSize = 28; OtherVocab = 28; SrcLen = 5; TgtLen = 5; Batch; OtherBatch; }

fn distill(
    logits: Tensor<(Batch, SrcLen, VocabSize), f32, Cpu>,
    teacher: &Tensor<(Batch, SrcLen, OtherVocab), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) {
    let _loss = kl_divergence(logits, teacher, padding, Reduction::MeanAll).unwrap();
}

fn main() {}
