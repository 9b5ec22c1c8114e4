//! An adapted map keeps all axes but the last.
//! Covers `Dims` of `nn::Lora::forward`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{nn::{Linear, Lora}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; SrcLen = 5; TgtLen = 7; Batch; }

fn adapted(
    lora: &Lora<EmbedDim, HiddenDim, Rank, f32, Cpu>,
    map: &Linear<EmbedDim, HiddenDim, f32, Cpu>,
    x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) {
    let _y: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = lora.forward(x, &map.weight, Some(&map.bias), 16.0).unwrap();
}

fn main() {}
