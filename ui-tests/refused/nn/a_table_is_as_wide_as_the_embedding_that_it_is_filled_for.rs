//! A table is as wide as the embedding that it is filled for.
//! Proves `EmbedDim` of `nn::init::embedding`.
use typed_transformer::{nn::init, prelude::*};

dims! { Letters = 28; SrcDim = 24; TgtDim = 20; }

fn start<A: Arch>(table: &mut Tensor<(Letters, TgtDim), f32, Cpu>) -> Result<(), CpuError> {
    init::embedding::<A, Letters, SrcDim, _, _>(table)
}

fn main() {}
