//! A model has one configuration.
//! Covers `Config` of `nn::LM`.
//! Right with `Small` for `Large` in line 8.
use typed_transformer::prelude::*;

fn replace<Small: Seq2Seq, Large: Seq2Seq>(
    model: &mut LM<Small, f32, Cpu>,
    other: LM<Large, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
