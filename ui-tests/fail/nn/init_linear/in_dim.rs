//! `linear` fills a matrix with the expected columns.
//! Covers `InDim` of `nn::init::linear`.
//! Right with `SrcDim` for `KeyDim` in line 10.
//! Mutants cover `OutDim` by `RowDim` of `nn::init::linear`.
use typed_transformer::{nn::init, prelude::*};

dims! { SrcDim = 24; KeyDim = 24; RowDim = 18; }

fn start(weight: &mut Tensor<(RowDim, SrcDim), f32, Cpu>) -> Result<(), CpuError> {
    init::linear::<KeyDim, RowDim, _, _>(weight)
}

fn main() {}
