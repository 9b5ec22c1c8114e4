//! A reference has no tape: a tensor that is recorded is passed by value, as a clone.
//! Right with `x.clone()` for `&x` in line 9.
use typed_transformer::{nn::Linear, prelude::*, train::Recording};

dims! { EmbedDim = 8; Batch; }

type Recorded = Tensor<(Batch, EmbedDim), f32, Cpu, Recording<Linear<EmbedDim, EmbedDim>, f32, Cpu>>;
fn doubled(x: Recorded) -> Result<Recorded, OpError> {
    add(&x, x.clone())
}

fn main() {}
