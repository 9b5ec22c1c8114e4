//! The logarithm of a softmax is taken over an axis of the tensor.
//! Covers `Name` of `ops::log_softmax_over`.
//! Right with `SrcLen` for `OtherLen` in line 11.
use typed_transformer::{ops::log_softmax_over, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn weights(
    logits: Tensor<(Batch, TgtLen, SrcLen), f32, Cpu>,
) -> Tensor<(Batch, TgtLen, SrcLen), f32, Cpu> {
    log_softmax_over(logits, axis::<OtherLen>())
}

fn main() {}
