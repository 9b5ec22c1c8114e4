//! A decoder without an encoder is of one kind.
//! Proves `M` of `nn::DecoderOnly`.
use typed_transformer::prelude::*;

fn replace<Small: SingleStack, Large: SingleStack>(
    model: &mut DecoderOnly<Small, f32, Cpu>,
    other: DecoderOnly<Small, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
