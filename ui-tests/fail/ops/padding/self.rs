//! Padding is a boolean at each position.
//! Covers `Self` of `ops::Padding`.
//! Right with `bool` for `f32` in line 9.
use typed_transformer::{ops::Padding, prelude::*};

dims! { SeqLen; Batch; }

fn count<Positions: Shape>(_: &impl Padding<Positions>) {}
fn tokens(padding: &Tensor<(Batch, SeqLen), f32, Cpu>) {
    count(padding);
}

fn main() {}
