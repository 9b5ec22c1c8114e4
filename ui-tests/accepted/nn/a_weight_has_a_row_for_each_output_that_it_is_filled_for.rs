//! A weight has a row for each output that it is filled for.
//! Proves `OutDim` of `nn::init::weight`.
use typed_transformer::{nn::init, prelude::*};

dims! { SrcDim = 24; TgtDim = 20; KeyDim = 18; }

fn start<A: Arch>(weight: &mut Tensor<(KeyDim, SrcDim), f32, Cpu>) -> Result<(), CpuError> {
    init::weight::<A, SrcDim, KeyDim, _, _>(weight)
}

fn main() {}
