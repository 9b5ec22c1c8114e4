//! The experts of a layer come from the configuration.
//! Covers `Experts` of `models::mixtral::MixtralConfig`.
//! Right with `Experts` for `OtherExperts` in line 8.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::{Mixtral, MixtralConfig}}, prelude::*};

dims! { Experts = 4; OtherExperts = 4; EmbedDim = 8; }

trait Small: LlamaConfig<EmbedDim = EmbedDim> + MixtralConfig<Experts = OtherExperts> {}

fn read<Config: Small>(model: &Mixtral<Config, f32, Cpu>) {
    let _weight: &Tensor<(Experts, EmbedDim), f32, Cpu> = &model.layers[0].mixture.router;
}

fn main() {}
