//! The number of windows follows from the length of the axis.
//! Covers `Len` of `dims::Windows`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{dims::Windows, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Width = 3; }

fn slide(
    windows: Tensor<(Windows<TgtLen, Width>,), f32, Cpu>,
) -> Tensor<(Windows<SrcLen, Width>,), f32, Cpu> {
    windows
}

fn main() {}
