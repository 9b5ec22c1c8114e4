//! The highest elements are found along an axis of the tensor.
//! Covers `Name` of `ops::argmax`.
//! Right with `NumExperts` for `NumHeads` in line 9.
use typed_transformer::{ops::argmax, prelude::*};

dims! { NumExperts = 4; NumHeads = 4; SrcLen = 5; }

fn best(gates: &Tensor<(SrcLen, NumExperts), f32, Cpu>) {
    let _best = argmax(gates, axis::<NumHeads>());
}

fn main() {}
