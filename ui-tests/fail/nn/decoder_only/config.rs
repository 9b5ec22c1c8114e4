//! A decoder-only model has one configuration.
//! Covers `Config` of `nn::DecoderOnly`.
//! Right with `Small` for `Large` in line 8.
use typed_transformer::prelude::*;

fn replace<Small: SingleStack, Large: SingleStack>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    other: DecoderOnly<Large, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
