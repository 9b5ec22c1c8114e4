//! The deviation of an embedding is chosen by the architecture.
//! Proves `A` of `nn::init::embedding`.
//! Proves `Self` of `nn::Arch`.
use typed_transformer::{nn::init, prelude::*};

dims! { Letters = 28; TgtDim = 20; }

fn start<A: Arch>(table: &mut Tensor<(Letters, TgtDim), f32, Cpu>) -> Result<(), CpuError> {
    init::embedding::<A, Letters, TgtDim, _, _>(table)
}

fn main() {}
