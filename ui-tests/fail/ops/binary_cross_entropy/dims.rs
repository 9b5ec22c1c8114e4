//! There is a logit for each target.
//! Covers `Dims` of `ops::binary_cross_entropy`.
//! Right with `Labels` for `Classes` in line 8.
use typed_transformer::{ops::binary_cross_entropy, prelude::*};

dims! { Labels = 4; Classes = 4; Batch; }

fn loss(logits: Tensor<(Batch, Labels), f32, Cpu>, target: &Tensor<(Batch, Classes), f32, Cpu>) {
    let _loss = binary_cross_entropy(logits, target).unwrap();
}

fn main() {}
