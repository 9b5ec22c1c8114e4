//! There is a most likely token for each position that has logits.
use typed_transformer::{ops::most_likely, prelude::*};

dims! { Letters = 28; SrcLen = 4; TgtLen = 4; Batch; }

fn written(
    logits: &Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
) -> TokenIds<Batch, TgtLen, Letters> {
    let ids = most_likely(logits);
    ids
}

fn main() {}
