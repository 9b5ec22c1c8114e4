//! The embedding initializer fills a table with one row per token.
//! Covers `N` of `nn::init::embedding`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::{nn::init, prelude::*};

dims! { Letters = 28; Sounds = 44; TgtDim = 20; }

fn start<A: Arch>(table: &mut Tensor<(Letters, TgtDim), f32, Cpu>) -> Result<(), CpuError> {
    init::embedding::<A, Sounds, TgtDim, _, _>(table)
}

fn main() {}
