//! A folder gets the weights of the model that was passed, not of another one.
//! Covers `Model` of `weights::save_pretrained`.
//! Right with `Small` for `Large` in line 9.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*, weights::{SaveError, save_pretrained}};

type Model<Config> = Gpt2<Config, f32, Cpu>;

fn store<Small: Gpt2Config, Large: Gpt2Config>(model: &Model<Small>) -> Result<(), SaveError> {
    save_pretrained::<Model<Large>, _, _>(model, "tuned")
}

fn main() {}
