//! An operand of `einsum!` is the tensor in the result of an operation: `?` takes it out.
//! Right with `hidden?` for `hidden` in line 14.
//!
//! The same line is right in PyTorch, whose operations throw.
use typed_transformer::{ops::scale, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; SeqLen; Batch; }

fn output(
    x: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>,
    weight: &Tensor<(EmbedDim, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    let hidden = scale(x, 0.5);
    einsum!(hidden: (Batch, SeqLen, HiddenDim), weight: (EmbedDim, HiddenDim) -> (Batch, SeqLen, EmbedDim))
}

fn main() {}
