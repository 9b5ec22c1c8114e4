//! One-hot vectors have the axes of the indices and one more.
//! Covers `Dims` of `ops::one_hot`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Name` by `NumExperts`, `Smaller` by `SrcLen` of `ops::one_hot`.
use typed_transformer::{ops::one_hot, prelude::*, tokens::Indices};

dims! { NumExperts = 4; SrcLen = 5; TgtLen = 5; }

fn one_hots(chosen: &Indices<(SrcLen,), NumExperts>) -> Result<Tensor<(TgtLen, NumExperts), f32, Cpu>, OpError> {
    one_hot(&Cpu::default(), chosen)
}

fn main() {}
