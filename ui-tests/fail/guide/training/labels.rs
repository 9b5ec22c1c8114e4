//! The loss compares logits with labels, and not with what the model read.
//! Right with `ends` for `words` in line 12.
use typed_transformer::prelude::*;

dims! { Letters = 26; VocabSize = 27; Ends = 2; WordLen; Batch; }

fn loss(
    logits: Tensor<(Batch, Ends, Letters), f32, Cpu>,
    words: &TokenIds<Batch, WordLen, VocabSize>,
    ends: &LabelIds<Batch, Ends, Letters>,
) -> Result<Tensor<(), f32, Cpu>, OpError> {
    cross_entropy(logits, words, Reduction::MeanAll)
}

fn main() {}
