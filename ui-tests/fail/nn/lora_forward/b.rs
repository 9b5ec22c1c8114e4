//! An adapted map keeps the batch.
//! Covers `B` of `nn::Lora::forward`.
//! Right with `Batch` for `OtherBatch` in line 11.
use typed_transformer::{nn::{Linear, Lora}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn adapted(
    lora: &Lora<EmbedDim, HiddenDim, Rank, f32, Cpu>,
    map: &Linear<EmbedDim, HiddenDim, f32, Cpu>,
    x: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> {
    lora.forward(x, &map.weight, Some(&map.bias), 16.0)
}

fn main() {}
