//! The number of windows follows from their width.
//! Covers `Window` of `dims::Windows`.
//! Right with `Width` for `OtherWidth` in line 8.
use typed_transformer::{dims::Windows, prelude::*};

dims! { SrcLen = 5; Width = 3; OtherWidth = 2; }

fn slide(x: Tensor<(Windows<SrcLen, OtherWidth>,), f32, Cpu>) {
    let _windows: Tensor<(Windows<SrcLen, Width>,), f32, Cpu> = x;
}

fn main() {}
