//! A part that may be unused is a module or a parameter.
//! Right with `part` for `pooler` in line 15.
use typed_transformer::{nn::Linear, prelude::*, train::GradientsOf};

dims! { EmbedDim = 8; }

#[module]
struct Reader<E, D> {
    #[some_if(true)]
    pooler: Option<Linear<EmbedDim, EmbedDim, E, D>>,
}

fn unused(gradients: GradientsOf<Reader<f32, Cpu>>, pooler: &Option<Linear<EmbedDim, EmbedDim>>) {
    if let Some(part) = pooler {
        let _gradients = gradients.allow_unused(pooler);
    }
}

fn main() {}
