//! A row that a feed-forward layer transforms has the layer's width.
//! Right with `EmbedDim` for `HiddenDim` in line 7.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; Batch; }

fn transform<A: Arch>(layer: &FeedForward<EmbedDim, A, f32, Cpu>, rows: Tensor<(Batch, HiddenDim), f32, Cpu>) {
    let _rows = layer.forward(rows);
}

fn main() {}
