//! Windows keep the other axes.
//! Covers `Dims` of `ops::windows`.
//! Right with `EmbedDim` for `HiddenDim` in line 11.
//! Mutants cover `Len` by `SrcLen`, `Out` by `Width`, `Window` by `Width` of `ops::windows`.
use typed_transformer::{dims::Windows, ops::windows, prelude::*};

dims! { SrcLen = 5; Width = 3; EmbedDim = 8; HiddenDim = 8; }

type Out = Tensor<(Windows<SrcLen, Width>, Width, EmbedDim), f32, Cpu>;

fn slide(x: Tensor<(SrcLen, HiddenDim), f32, Cpu>) -> Result<Out, OpError> {
    windows(x, axis::<SrcLen>(), Width)
}

fn main() {}
