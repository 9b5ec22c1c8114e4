//! A prediction has the shape of its target.
//! Covers `Dims` of `ops::mean_squared_error`.
//! Right with `Labels` for `Classes` in line 8.
use typed_transformer::{ops::mean_squared_error, prelude::*};

dims! { Labels = 4; Classes = 4; Batch; }

fn loss(prediction: Tensor<(Batch, Labels), f32, Cpu>, target: &Tensor<(Batch, Classes), f32, Cpu>) {
    let _loss = mean_squared_error(prediction, target).unwrap();
}

fn main() {}
