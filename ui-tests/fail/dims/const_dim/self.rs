//! The columns of a table are counted at compile time.
//! Covers `Self` of `dims::ConstDim`.
//! Right with `EmbedDim` for `SrcLen` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen; EmbedDim = 8; }

type Columns = SrcLen;

fn count<Width: ConstDim>() -> usize {
    Width::SIZE
}

const _: fn() -> usize = count::<Columns>;

fn main() {}
