//! Windows are made along an axis of the tensor.
//! Covers `Len` of `ops::windows`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{dims::Windows, ops::windows, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; Width = 3; }

fn slide(x: Tensor<(SrcLen,), f32, Cpu>) -> Tensor<(Windows<SrcLen, Width>, Width), f32, Cpu> {
    windows(x, axis::<TgtLen>(), Width)
}

fn main() {}
