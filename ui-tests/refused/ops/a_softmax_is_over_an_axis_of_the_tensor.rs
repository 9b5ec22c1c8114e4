//! A softmax is over an axis of the tensor.
//! Proves `Name` of `ops::softmax_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn weights(
    logits: Tensor<(Batch, TgtLen, SrcLen), f32, Cpu>,
) -> Tensor<(Batch, TgtLen, SrcLen), f32, Cpu> {
    softmax_over(logits, axis::<OtherLen>())
}

fn main() {}
