//! A linear layer checks its input width without a type annotation on the result.
//! Right with `Embed` for `Hidden` in line 9.
use typed_transformer::{nn::Linear, prelude::*};

dims! { Embed = 8; Hidden = 8; Len; Batch; }

fn map(
    linear: &Linear<Embed, Hidden, f32, Cpu>,
    input: Tensor<(Batch, Len, Hidden), f32, Cpu>,
) {
    let _mapped = linear.forward(input).unwrap();
}

fn main() {}
