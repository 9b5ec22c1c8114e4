//! A model keeps the batch of embeddings.
//! Covers `B` of `models::vit::Vit::vectors_of`.
//! Right with `Batch` for `Other` in line 13.
//! Mutants cover `S` by `Kept` of `models::vit::Vit::vectors_of`.
use typed_transformer::{models::vit::{Vit, VitConfig}, prelude::*};

dims! { EmbedDim = 8; Kept = 5; Batch; Other; }

trait Small: VitConfig<EmbedDim = EmbedDim> {}

fn states<Config: Small>(
    model: &Vit<Config, f32, Cpu>,
    embeddings: Tensor<(Other, Kept, EmbedDim), f32, Cpu>,
) {
    let _states = model.vectors_of::<Batch, Kept, NoneTape>(embeddings).unwrap();
}

fn main() {}
