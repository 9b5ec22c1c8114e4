//! A slice is taken from an axis of the tensor.
//! Covers `Len` of `ops::slice`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{ops::slice, prelude::*};

dims! { EmbedDim = 8; SrcLen; TgtLen; Prompt; }

fn prompt(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>, len: Prompt) {
    let _prompt = slice(x, axis::<TgtLen>(), 0, len);
}

fn main() {}
