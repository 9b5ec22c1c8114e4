//! A trainer takes the loss of the whole batch, not one rank's part of it.
//! Right with `f64` for `Partial<f64, World>` in line 13.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::*, train::*};

ranks! { World; Tp = 2; }
dims! { Letters = 28; EmbedDim = 8; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;

fn learn(
    trainer: &mut Trainer<Adam<LmHead, f32>, Constant>,
    model: &mut LmHead,
    gradients: GradientsOf<LmHead, f32, Cpu>,
    loss: Partial<f64, World>,
) -> Result<StepReport, TrainError> {
    trainer.update(model, gradients, loss, 50)
}

fn main() {}
