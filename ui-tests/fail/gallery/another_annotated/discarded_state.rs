//! Each step of an optimizer starts from the state that the last step returned.
//! Right with `opt_params` for `opt_state` in line 19.
//!
//! *Another annotated transformer* calls `params, opt_params = train_step(params, opt_state, step, key)` in
//! its loop: the new state is never used, and the learning rate stays at the first value of its schedule.
use typed_transformer::{nn::Linear, prelude::*, train::Adam};

dims! { EmbedDim = 8; VocabSize = 28; }

type Model = Linear<EmbedDim, VocabSize, f32, Cpu>;

fn train(
    train_step: impl Fn(Model, Adam<Model, f32>) -> (Model, Adam<Model, f32>),
    model: Model,
    opt_state: Adam<Model, f32>,
) -> (Model, Adam<Model, f32>) {
    let (model, opt_params) = train_step(model, opt_state);
    let _ = &opt_params;
    train_step(model, opt_state)
}

fn main() {}
