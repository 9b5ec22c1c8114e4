//! Tensors are stacked along the new axis of the result.
//! Covers `Name` of `ops::stack`.
//! Right with `NumExperts` for `NumLayers` in line 9.
use typed_transformer::{ops::stack, prelude::*};

dims! { NumExperts = 2; NumLayers = 2; SrcLen = 5; Batch; }

fn of_all(outputs: Vec<Tensor<(Batch, SrcLen), f32, Cpu>>) -> Tensor<(Batch, NumExperts, SrcLen), f32, Cpu> {
    stack(outputs, NumLayers)
}

fn main() {}
