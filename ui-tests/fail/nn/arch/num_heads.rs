//! The number of heads comes from the architecture.
//! Covers `NumHeads` of `nn::Arch`.
//! Right with `NumHeads` for `OtherHeads` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; NumHeads = 4; OtherHeads = 3; QKDim = 10; Batch; }

trait Small: Arch<NumHeads = OtherHeads, QKDim = QKDim> {}

type Query = Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>;

fn query<A: Small>(
    attention: &MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) {
    let _query: Query = attention.query_proj.forward(input);
}

fn main() {}
