//! A softmax keeps the shape.
//! Covers `Dims` of `ops::softmax_over`.
//! Right with `SrcLen` for `OtherLen` in line 10.
//! Mutants cover `Name` by `SrcLen` of `ops::softmax_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn weights(
    logits: Tensor<(Batch, TgtLen, OtherLen), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, SrcLen), f32, Cpu>, OpError> {
    softmax_over(logits, axis::<SrcLen>()) // or over TgtLen, Batch
}

fn main() {}
