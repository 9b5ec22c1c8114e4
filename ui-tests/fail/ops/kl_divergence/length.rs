//! The padding is that of the sequence.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::kl_divergence, prelude::*};

dims! { VocabSize = 28; OtherVocab = 28; SrcLen = 5; TgtLen = 5; Batch; OtherBatch; }

fn distill(
    logits: Tensor<(Batch, SrcLen, VocabSize), f32, Cpu>,
    teacher: &Tensor<(Batch, SrcLen, VocabSize), f32, Cpu>,
    padding: &PaddingMask<Batch, TgtLen>,
) {
    let _loss = kl_divergence(logits, teacher, padding, Reduction::MeanAll);
}

fn main() {}
