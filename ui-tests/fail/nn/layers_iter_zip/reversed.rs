//! Layers in reverse order are paired with as many items, as in their own order.
//! Right with `NumLayers` for `NumSkips` in line 9.
use typed_transformer::{nn::{Layers, Linear}, prelude::*};

dims! { NumLayers = 4; NumSkips = 3; EmbedDim = 8; Batch; }

type Width = Linear<EmbedDim, EmbedDim>;
type States = Tensor<(Batch, EmbedDim), f32, Cpu>;
type Skips = Layers<NumSkips, Width>;

fn decoded(layers: &Layers<NumLayers, Width>, skips: &Skips, mut x: States) -> Result<States, OpError> {
    for (layer, skip) in layers.iter().rev().zip(skips) {
        x = layer.forward(skip.forward(x)?)?;
    }
    Ok(x)
}

fn main() {}
