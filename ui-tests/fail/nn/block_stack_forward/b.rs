//! A block stack uses the padding of its own batch.
//! Covers `B` of `nn::BlockStack::forward`.
//! Right with `Batch` for `OtherBatch` in line 11.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; OtherBatch; }

fn encode<A: Arch>(
    encoder: &BlockStack<EmbedDim, NumLayers, NoMask, A, f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    encoder.forward(source, padding)
}

fn main() {}
