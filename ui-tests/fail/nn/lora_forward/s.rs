//! An adapted map keeps the length.
//! Covers `S` of `nn::Lora::forward`.
//! Right with `SrcLen` for `TgtLen` in line 12.
//! Mutants cover `B` by `Batch` of `nn::Lora::forward`.
use typed_transformer::{nn::{Linear, Lora}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn adapted(
    lora: &Lora<EmbedDim, HiddenDim, Rank, f32, Cpu>,
    map: &Linear<EmbedDim, HiddenDim, f32, Cpu>,
    x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>, OpError> {
    lora.forward(x, &map.weight, Some(&map.bias), 16.0)
}

fn main() {}
