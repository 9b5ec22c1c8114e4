//! The weight initializer fills a weight with one row per output.
//! Covers `OutDim` of `nn::init::weight`.
//! Right with `KeyDim` for `TgtDim` in line 9.
use typed_transformer::{nn::init, prelude::*};

dims! { SrcDim = 24; TgtDim = 20; KeyDim = 18; }

fn start<A: Arch>(weight: &mut Tensor<(KeyDim, SrcDim), f32, Cpu>) -> Result<(), CpuError> {
    init::weight::<A, SrcDim, TgtDim, _, _>(weight)
}

fn main() {}
