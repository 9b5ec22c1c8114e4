//! A linear map takes vectors of its input width, and no annotation has to ask for it.
use typed_transformer::{nn::Linear, prelude::*};

dims! { Embed = 8; Hidden = 8; Len; Batch; }

fn map(
    linear: &Linear<Embed, Hidden, f32, Cpu>,
    input: Tensor<(Batch, Len, Hidden), f32, Cpu>,
) {
    let _mapped = linear.forward(input);
}

fn main() {}
