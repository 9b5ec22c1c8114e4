//! A slice has the dimension of its part.
//! Covers `Part` of `ops::slice`.
//! Right with `Prompt` for `Answer` in line 9.
//! Mutants cover `Dims` by `EmbedDim`, `Len` by `SrcLen` of `ops::slice`.
use typed_transformer::{ops::slice, prelude::*};

dims! { EmbedDim = 8; SrcLen; Prompt; Answer; }

fn read(x: Tensor<(SrcLen, EmbedDim), f32, Cpu>, len: Answer) -> Result<Tensor<(Prompt, EmbedDim), f32, Cpu>, OpError> {
    slice(x, axis::<SrcLen>(), 0, len)
}

fn main() {}
