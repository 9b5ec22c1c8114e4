//! Each layer gets its adapter: a stack of fewer adapters is not a stack for these layers.
//! Covers `Other` of `nn::LayersIter::zip`.
//! Covers `NumLayers` of `nn::LayersIter`.
//! Right with `NumLayers` for `NumAdapted` in line 12.
use typed_transformer::{nn::{Layers, Linear, Lora}, prelude::*};

dims! { NumLayers = 12; NumAdapted = 6; EmbedDim = 8; Rank = 2; Batch; }

type Width = Linear<EmbedDim, EmbedDim>;
type States = Tensor<(Batch, Const<1>, EmbedDim), f32, Cpu>;

type Adapters = Layers<NumAdapted, Lora<EmbedDim, EmbedDim, Rank>>;

fn adapted(layers: &Layers<NumLayers, Width>, adapters: &Adapters, mut x: States) -> Result<States, OpError> {
    for (layer, adapter) in layers.iter().zip(adapters) {
        x = adapter.forward(x, &layer.weight, None, 1.0)?;
    }
    Ok(x)
}

fn main() {}
