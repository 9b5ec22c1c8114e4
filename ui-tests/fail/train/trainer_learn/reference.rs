//! A model that is a reference already is passed as it is.
//! Right with `owned` for `model` in line 13.
use typed_transformer::{nn::Linear, prelude::*, train::*};

dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;
type Loss = Tensor<(), f32, Cpu, Recording<LmHead>>;
type Step = Result<StepReport, TrainError>;

fn learn(trainer: &mut Trainer<Adam<LmHead>, f64>, model: &mut LmHead, loss: Loss, more: Loss) -> Step {
    let mut owned = model.clone();
    trainer.learn(&mut model, loss, 50)?;
    trainer.learn(&mut owned, more, 50)
}

fn main() {}
