//! The classes are the last axis of the logits.
//! Right with `last` for `first` in line 12.
use typed_transformer::{prelude::*, tokens::Indices};

dims! { NumClasses = 10; Height = 4; Batch; }

fn loss(
    first: Tensor<(Batch, NumClasses, Height), f32, Cpu>,
    last: Tensor<(Batch, Height, NumClasses), f32, Cpu>,
    labels: &Indices<(Batch, Height), NumClasses>,
) {
    let _loss = cross_entropy(first, labels, Reduction::MeanAll).unwrap();
}

fn main() {}
