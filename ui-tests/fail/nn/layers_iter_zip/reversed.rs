//! Layers in reverse order are paired with as many items, as in their own order.
//! Right with `NumLayers` for `NumSkips` in line 9.
use typed_transformer::{nn::{Layers, Linear}, prelude::*};

dims! { NumLayers = 4; NumSkips = 3; EmbedDim = 8; Batch; }

type Up = Layers<NumLayers, Linear<EmbedDim, EmbedDim>>;
type States = Tensor<(Batch, EmbedDim), f32, Cpu>;
type Skips = Layers<NumSkips, States>;

fn decoded(up: &Up, skips: &Skips, mut x: States) -> Result<States, OpError> {
    for (layer, skip) in up.iter().rev().zip(skips) {
        x = layer.forward(add(x, skip)?)?;
    }
    Ok(x)
}

fn main() {}
