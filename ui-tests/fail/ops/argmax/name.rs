//! The highest elements are found along an axis of the tensor.
//! Covers `Name` of `ops::argmax`.
//! Right with `Experts` for `NumHeads` in line 9.
use typed_transformer::{ops::argmax, prelude::*};

dims! { Experts = 4; NumHeads = 4; SrcLen = 5; }

fn best(gates: &Tensor<(SrcLen, Experts), f32, Cpu>) {
    let _best = argmax(gates, axis::<NumHeads>());
}

fn main() {}
