//! The padding of logits over four axes has the first three.
//! Right with `Draft` for `Step` in line 7.
use typed_transformer::{ops::kl_divergence, prelude::*};

dims! { VocabSize = 28; Draft = 3; Step = 3; SrcLen = 5; Batch; }

type Padded = Tensor<(Batch, Step, SrcLen), bool, Cpu>;
type Logits = Tensor<(Batch, Draft, SrcLen, VocabSize), f32, Cpu>;

fn distill(logits: Logits, teacher: &Logits, padding: &Padded) {
    let _loss = kl_divergence(logits, teacher, padding, Reduction::MeanAll);
}

fn main() {}
