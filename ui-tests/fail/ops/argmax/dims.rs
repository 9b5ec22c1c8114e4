//! The indices of the highest elements have the other axes.
//! Covers `Dims` of `ops::argmax`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Name` by `NumExperts` of `ops::argmax`.
use typed_transformer::{ops::argmax, prelude::*, tokens::Indices};

dims! { NumExperts = 4; SrcLen = 5; TgtLen = 5; }

fn best(gates: &Tensor<(SrcLen, NumExperts), f32, Cpu>) -> Result<Indices<(TgtLen,), NumExperts>, OpError> {
    argmax(gates, axis::<NumExperts>())
}

fn main() {}
