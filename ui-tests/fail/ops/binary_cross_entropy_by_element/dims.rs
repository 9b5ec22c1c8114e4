//! Each logit has a loss of its own.
//! Covers `Dims` of `ops::binary_cross_entropy_by_element`.
//! Right with `Labels` for `Classes` in line 8.
use typed_transformer::{ops::binary_cross_entropy_by_element, prelude::*};

dims! { Labels = 4; Classes = 4; Batch; }

fn losses(logits: Tensor<(Batch, Labels), f32, Cpu>, target: &Tensor<(Batch, Classes), f32, Cpu>) {
    let _losses = binary_cross_entropy_by_element(logits, target).unwrap();
}

fn main() {}
