//! A block stack uses the padding of its own input.
//! Right with `SeqLen` for `OtherLen` in line 10.
use typed_transformer::{nn::BlockStack, prelude::*};

dims! { EmbedDim = 8; NumLayers = 2; SeqLen = 4; OtherLen = 4; Batch; }

fn run<A: Arch>(
    stack: &BlockStack<EmbedDim, NumLayers, CausalMask, A, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, OtherLen>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    stack.forward(input, padding)
}

fn main() {}
