//! The value width of a head comes from the architecture.
//! Covers `VODim` of `nn::Arch`.
//! Right with `VODim` for `QKDim` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

trait Small: Arch<NumHeads = NumHeads, VODim = QKDim> {}

type Value = Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu>;

fn value<A: Small>(
    attention: &MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) {
    let _value: Value = attention.value_proj.forward(input).unwrap();
}

fn main() {}
