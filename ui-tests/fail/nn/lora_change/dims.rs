//! What an adapter adds has all axes of its input but the last.
//! Covers `Dims` of `nn::Lora::change`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{nn::Lora, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; SrcLen = 5; TgtLen = 7; Batch; }

fn change(lora: &Lora<EmbedDim, HiddenDim, Rank, f32, Cpu>, x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>) {
    let _change: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = lora.change(x, 16.0).unwrap();
}

fn main() {}
