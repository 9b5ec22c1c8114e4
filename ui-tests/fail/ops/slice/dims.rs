//! A slice keeps the other axes.
//! Covers `Dims` of `ops::slice`.
//! Right with `EmbedDim` for `HiddenDim` in line 8.
use typed_transformer::{ops::slice, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 8; SrcLen; Prompt; }

fn prompt(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>, len: Prompt) -> Tensor<(Prompt, HiddenDim), f32, Cpu> {
    slice(x, axis::<SrcLen>(), 0, len)
}

fn main() {}
