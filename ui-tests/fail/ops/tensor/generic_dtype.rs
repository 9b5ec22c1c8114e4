//! A number of a dtype that is a type parameter is made of an `f64`.
//! Right with `halves` for `numbers` in line 8.
use typed_transformer::prelude::*;

dims! { EmbedDim = 2; }
fn pair<E: Real, D: Backend<E>>(device: &D) -> Result<Tensor<(EmbedDim,), E, D>, OpError> {
    let (numbers, halves) = (vec![0.5, 1.5], [0.5, 1.5].map(|number| E::from_f64(number).unwrap()));
    tensor(device, numbers, (EmbedDim,))
}

fn main() {}
