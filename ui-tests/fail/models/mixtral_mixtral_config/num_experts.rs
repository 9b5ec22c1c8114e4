//! The experts of a layer come from the configuration.
//! Covers `NumExperts` of `models::mixtral::MixtralConfig`.
//! Right with `NumExperts` for `OtherExperts` in line 8.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::{Mixtral, MixtralConfig}}, prelude::*};

dims! { NumExperts = 4; OtherExperts = 4; EmbedDim = 8; }

trait Small: LlamaConfig<EmbedDim = EmbedDim> + MixtralConfig<NumExperts = OtherExperts> {}

fn read<Config: Small>(model: &Mixtral<Config, f32, Cpu>) {
    let _weight: &Tensor<(NumExperts, EmbedDim), f32, Cpu> = &model.layers[0].mixture.router;
}

fn main() {}
