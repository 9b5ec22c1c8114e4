//! A function that saves the training of any model has the bounds of a module.
//! Right with `Trained` for `Module` in line 8.
use typed_transformer::{nn::Module, prelude::*, train::{Optimizer, Schedule, Trainer}, weights::SaveError};

trait Trained: Module + BuildModule<Cpu, f32> {}
type Saved = Result<(), SaveError>;

fn store<S: Schedule, Model: Module, O: Optimizer<Model, f32>>(trainer: &Trainer<O, S>, model: &Model) -> Saved {
    trainer.save(model, "model.safetensors")
}

fn main() {}
