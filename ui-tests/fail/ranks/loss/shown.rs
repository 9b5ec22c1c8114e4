//! A trainer takes the loss of the whole batch, not one rank's part of it.
//! Right with `f64` for `Term` in line 15.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;
type Term = Partial<f64, World>;

fn learn(
    trainer: &mut Trainer<Adam<LmHead, f32>, f64>,
    model: &mut LmHead,
    gradients: GradientsOf<LmHead, f32, Cpu>,
    loss: Term,
) -> Result<StepReport, TrainError> {
    trainer.update(model, gradients, loss, 50)
}

fn main() {}
