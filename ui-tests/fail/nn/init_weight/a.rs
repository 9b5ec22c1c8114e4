//! The weight initializer takes its standard deviation from an architecture.
//! Covers `A` of `nn::init::weight`.
//! Right with `A` for `TypedTransformer` in line 10.
//! Mutants cover `InDim` by `SrcDim`, `OutDim` by `KeyDim` of `nn::init::weight`.
use typed_transformer::{nn::init, prelude::*};

dims! { SrcDim = 24; KeyDim = 18; }

fn start<A: Arch>(weight: &mut Tensor<(KeyDim, SrcDim), f32, Cpu>) -> Result<(), CpuError> {
    init::weight::<TypedTransformer, SrcDim, KeyDim, _, _>(weight)
}

fn main() {}
