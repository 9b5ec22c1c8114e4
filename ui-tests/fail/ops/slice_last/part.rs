//! The end of a sequence has the dimension that it is asked for.
//! Covers `Part` of `ops::slice_last`.
//! Right with `Next` for `Prompt` in line 9.
//! Mutants cover `Dims` by `EmbedDim`, `Len` by `SrcLen` of `ops::slice_last`.
use typed_transformer::{ops::slice_last, prelude::*};

dims! { EmbedDim = 8; SrcLen; Prompt; Next; }

fn end(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>, len: Prompt) -> Result<Tensor<(Next, EmbedDim), f32, Cpu>, OpError> {
    slice_last(x, axis::<SrcLen>(), len)
}

fn main() {}
