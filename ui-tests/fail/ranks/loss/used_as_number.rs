//! The loss of one rank's rows is a part of a sum, not the loss.
//! Right with `Replicated` for `Partial` in line 10.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

fn is_finite(loss: Partial<f64, World>) -> bool {
    loss.is_finite()
}

fn main() {}
