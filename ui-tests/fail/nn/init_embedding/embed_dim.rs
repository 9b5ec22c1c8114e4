//! The embedding initializer fills a table of the embedding's width.
//! Covers `EmbedDim` of `nn::init::embedding`.
//! Right with `TgtDim` for `SrcDim` in line 9.
use typed_transformer::{nn::init, prelude::*};

dims! { Letters = 28; SrcDim = 24; TgtDim = 20; }

fn start<A: Arch>(table: &mut Tensor<(Letters, TgtDim), f32, Cpu>) -> Result<(), CpuError> {
    init::embedding::<A, Letters, SrcDim, _, _>(table)
}

fn main() {}
