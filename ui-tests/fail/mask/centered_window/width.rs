//! A layer trained with one window does not run with another.
//! Covers `Width` of `mask::CenteredWindow`.
//! Right with `Width` for `OtherWidth` in line 10.
use typed_transformer::{doctest::Model, mask::CenteredWindow, prelude::*};

dims! { EmbedDim = 8; Width = 4; OtherWidth = 4; }

type Layer<Width> = SelfAttention<EmbedDim, CenteredWindow<Width>, Model, f32, Cpu>;

fn layer(layer: Layer<OtherWidth>) -> Layer<Width> {
    layer
}

fn main() {}
