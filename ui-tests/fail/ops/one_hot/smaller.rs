//! One-hot vectors stand where the indices stand.
//! Covers `Smaller` of `ops::one_hot`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::one_hot, prelude::*, tokens::Indices};

dims! { NumExperts = 4; SrcLen = 5; TgtLen = 5; }

fn one_hots(chosen: &Indices<(TgtLen,), NumExperts>) -> Tensor<(SrcLen, NumExperts), f32, Cpu> {
    one_hot(&Cpu::default(), chosen)
}

fn main() {}
