//! The deviation of a weight is chosen by the architecture.
//! Proves `A` of `nn::init::weight`.
use typed_transformer::{nn::init, prelude::*};

dims! { SrcDim = 24; KeyDim = 18; }

fn start<A: Arch>(weight: &mut Tensor<(KeyDim, SrcDim), f32, Cpu>) -> Result<(), CpuError> {
    init::weight::<A, SrcDim, KeyDim, _, _>(weight)
}

fn main() {}
