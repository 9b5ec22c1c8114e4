//! A cache that is extended is longer than its new part.
//! Right with `Total` for `Present` in line 13.
//!
//! A cache is often typed by hand: the result of a concatenation gets the label of one of its parts, and
//! every later check is about the wrong length.
use typed_transformer::prelude::*;

dims! { HeadDim = 3; Past = 5; Present = 2; Total: Sum<Past, Present>; Batch; }

fn keys(
    past: Tensor<(Batch, Past, HeadDim), f32, Cpu>,
    present: Tensor<(Batch, Present, HeadDim), f32, Cpu>,
) -> Result<Tensor<(Batch, Present, HeadDim), f32, Cpu>, OpError> {
    concat(past, present, along::<Past, Present>())
}

fn main() {}
