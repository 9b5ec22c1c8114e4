//! An encoder without a decoder is of one kind.
//! Proves `M` of `nn::EncoderOnly`.
use typed_transformer::prelude::*;

fn replace<Small: OneStack, Large: OneStack>(
    model: &mut EncoderOnly<Small, f32, Cpu>,
    other: EncoderOnly<Small, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
