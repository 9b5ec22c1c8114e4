//! The query and key width of a head comes from the architecture.
//! Covers `QKDim` of `nn::Arch`.
//! Right with `QKDim` for `VODim` in line 9.
//! Mutants cover `NumHeads` by `NumHeads` of `nn::Arch`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = VODim> {}

type Query = Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>;

fn query<A: Small>(
    attention: &MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) {
    let _query: Query = attention.query_proj.forward(input).unwrap();
}

fn main() {}
