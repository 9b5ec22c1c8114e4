//! Stacking adds one axis.
//! Covers `Dims` of `ops::stack`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::stack, prelude::*};

dims! { NumExperts = 2; SrcLen = 5; TgtLen = 7; Batch; }

fn of_all(outputs: Vec<Tensor<(Batch, SrcLen), f32, Cpu>>) -> Tensor<(Batch, NumExperts, TgtLen), f32, Cpu> {
    stack(outputs, NumExperts)
}

fn main() {}
