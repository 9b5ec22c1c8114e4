//! A feed-forward layer transforms vectors of its own width, whatever the number of axes.
//! Right with `EmbedDim` for `HeadDim` in line 9.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; SrcLen = 5; EmbedDim = 8; HeadDim = 8; Batch; }

fn transform<A: Arch>(
    feed_forward: &FeedForward<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>,
) {
    let _output = feed_forward.forward(input);
}

fn main() {}
