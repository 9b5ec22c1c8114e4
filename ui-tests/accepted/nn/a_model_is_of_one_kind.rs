//! A model is of one kind.
//! Proves `M` of `nn::LM`.
use typed_transformer::prelude::*;

fn replace<Small: Seq2Seq, Large: Seq2Seq>(
    model: &mut LM<Small, f32, Cpu>,
    other: LM<Small, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
