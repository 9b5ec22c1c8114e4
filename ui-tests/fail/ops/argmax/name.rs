//! The highest elements have indices of their own axis.
//! Covers `Name` of `ops::argmax`.
//! Right with `Experts` for `NumHeads` in line 8.
use typed_transformer::{ops::argmax, prelude::*, tokens::Indices};

dims! { Experts = 4; NumHeads = 4; SrcLen = 5; }

fn best(gates: &Tensor<(SrcLen, Experts), f32, Cpu>) -> Indices<(SrcLen,), NumHeads> {
    argmax(gates, axis::<Experts>())
}

fn main() {}
