//! The hidden width comes from the architecture.
//! Covers `HiddenDim` of `nn::Arch`.
//! Right with `HiddenDim` for `SrcDim` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; SrcDim = 24; Batch; }

trait Small: Arch<HiddenDim = SrcDim> {}

fn hidden<A: Small>(
    feed_forward: &FeedForward<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) {
    let _hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = feed_forward.hidden.forward(input).unwrap();
}

fn main() {}
