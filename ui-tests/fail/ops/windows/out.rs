//! The result has an axis for the windows and one for their elements.
//! Covers `Out` of `ops::windows`.
//! Right with `Width` for `OtherWidth` in line 8.
use typed_transformer::{dims::Windows, ops::windows, prelude::*};

dims! { SrcLen = 5; Width = 3; OtherWidth = 3; }

fn slide(x: Tensor<(SrcLen,), f32, Cpu>) -> Tensor<(Windows<SrcLen, Width>, OtherWidth), f32, Cpu> {
    windows(x, axis::<SrcLen>(), Width)
}

fn main() {}
