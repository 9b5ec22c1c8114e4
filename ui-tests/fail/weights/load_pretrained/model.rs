//! Weights are loaded from a folder into the model that is used.
//! Covers `Model` of `weights::load_pretrained`.
//! Right with `Small` for `Large` in line 12.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*, weights::{LoadError, load_pretrained}};

type Model<Config> = Gpt2<Config, f32, Cpu>;

fn open<Small: Gpt2Config, Large: Gpt2Config>(
    folder: &str,
    device: &Cpu,
) -> Result<Model<Small>, LoadError> {
    load_pretrained::<Model<Large>, _, _>(folder, device)
}

fn main() {}
