//! A weight has a column for each input that it is filled for.
//! Proves `InDim` of `nn::init::weight`.
use typed_transformer::{nn::init, prelude::*};

dims! { SrcDim = 24; TgtDim = 20; KeyDim = 18; }

fn start<A: Arch>(weight: &mut Tensor<(KeyDim, SrcDim), f32, Cpu>) -> Result<(), CpuError> {
    init::weight::<A, SrcDim, KeyDim, _, _>(weight)
}

fn main() {}
