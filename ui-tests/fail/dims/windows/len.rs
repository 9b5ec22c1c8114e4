//! The number of windows follows from the length of the axis.
//! Covers `Len` of `dims::Windows`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Window` by `Width` of `dims::Windows`.
use typed_transformer::{dims::Windows, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Width = 3; }

fn slide(x: Tensor<(Windows<TgtLen, Width>,), f32, Cpu>) {
    let _windows: Tensor<(Windows<SrcLen, Width>,), f32, Cpu> = x;
}

fn main() {}
