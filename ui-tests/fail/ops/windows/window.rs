//! A window is not longer than its axis.
//! Covers `Window` of `ops::windows`.
//! Right with `Width` for `TooWide` in line 8.
use typed_transformer::{dims::Windows, ops::windows, prelude::*};

dims! { SrcLen = 5; TooWide = 6; Width = 3; }

type Wide = TooWide;

fn slide(x: Tensor<(SrcLen,), f32, Cpu>, window: Wide) {
    let _windows: Tensor<(Windows<SrcLen, Wide>, Wide), f32, Cpu> = windows(x, axis::<SrcLen>(), window);
}

fn main() {}
