//! One rank does not change a parameter of a replicated model.
//! Right with `LmHead` for `Shared` in line 12.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::Replicated};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;
type Shared = Replicated<LmHead, World>;

fn without_bias(
    model: &mut Shared,
    zeros: Tensor<(Letters,), f32, Cpu>,
) {
    model.bias = zeros;
}

fn main() {}
