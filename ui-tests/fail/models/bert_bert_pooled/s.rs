//! The positions of a sequence come before the width.
//! Covers `S` of `models::bert::Bert::pooled`.
//! Right with `EmbedDim` for the second `SrcLen` in line 10.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; }

trait Reader: BertConfig<EmbedDim = EmbedDim> {}

fn pooled<Config: Reader>(model: &Bert<Config, f32, Cpu>, states: Tensor<(Batch, SrcLen, SrcLen), f32, Cpu>) {
    let _pooled = model.pooled(states);
}

fn main() {}
