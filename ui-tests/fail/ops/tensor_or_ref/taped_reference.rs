//! A reference has no tape: a tensor that is recorded is passed by value, as a clone.
//! Right with `by_value` for `by_reference` in line 10.
use typed_transformer::{nn::Linear, prelude::*, train::Recording};

dims! { EmbedDim = 8; Batch; }

type Recorded = Tensor<(Batch, EmbedDim), f32, Cpu, Recording<Linear<EmbedDim, EmbedDim>, f32, Cpu>>;
fn doubled(x: Recorded) -> Result<Recorded, OpError> {
    let (by_reference, by_value) = (&x, x.clone());
    add(by_reference, x.clone())
}

fn main() {}
