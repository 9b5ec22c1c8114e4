//! The experts of a layer come from the configuration.
//! Covers `Experts` of `models::mixtral::MixtralConfig`.
//! Right with `Experts` for `OtherExperts` in line 8.
use typed_transformer::{models::mixtral::{Mixtral, MixtralConfig}, prelude::*};

dims! { Experts = 4; OtherExperts = 4; }

trait Small: MixtralConfig<Experts = OtherExperts> {}

fn read<Config: Small>(model: &Mixtral<Config, f32, Cpu>) {
    let _weight: &Tensor<(Experts, Config::EmbedDim), f32, Cpu> = &model.layers[0].mixture.router;
}

fn main() {}
