//! A table has a row for each token that it is filled for.
//! Proves `N` of `nn::init::embedding`.
use typed_transformer::{nn::init, prelude::*};

dims! { Letters = 28; Sounds = 44; TgtDim = 20; }

fn start<A: Arch>(table: &mut Tensor<(Letters, TgtDim), f32, Cpu>) -> Result<(), CpuError> {
    init::embedding::<A, Sounds, TgtDim, _, _>(table)
}

fn main() {}
