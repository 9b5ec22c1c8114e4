//! The embedding initializer takes its standard deviation from an architecture.
//! Covers `A` of `nn::init::embedding`.
//! Covers `Self` of `nn::Arch`.
//! Right with `A` for `TypedTransformer` in line 11.
//! Mutants cover `EmbedDim` by `TgtDim`, `N` by `Letters` of `nn::init::embedding`.
use typed_transformer::{nn::init, prelude::*};

dims! { Letters = 28; TgtDim = 20; }

fn start<A: Arch>(table: &mut Tensor<(Letters, TgtDim), f32, Cpu>) -> Result<(), CpuError> {
    init::embedding::<TypedTransformer, Letters, TgtDim, _, _>(table)
}

fn main() {}
