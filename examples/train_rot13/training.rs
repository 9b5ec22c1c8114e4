//! The training loop.

use crate::{
    cli::{Cli, RunError},
    model::Model,
    progress::Progress,
    words::{self, START, SrcLen, TgtLen, Word},
};
use dfdx::{
    nn::BuildModule,
    tensor::{AsArray, Cpu, OwnedTape},
    tensor_ops::Backward,
};
use rand::rngs::StdRng;
use typed_transformer::{
    ops::Average,
    train::{Adam, Schedule, WarmupCosine, try_cross_entropy, update},
};

/// The global norm that gradients are clipped to.
const MAX_NORM: f64 = 1.0;

/// A new model, trained for `--steps` steps on `--batch` words each.
pub fn train(cli: &Cli, device: &Cpu, rng: &mut StdRng) -> Result<Model, RunError> {
    let schedule = WarmupCosine {
        peak: cli.learning_rate,
        last: cli.learning_rate / 200.0,
        warmup_steps: 100,
        steps: cli.steps,
    };
    let mut model = Model::try_build(device)?;
    let mut adam = Adam::default();
    adam.beta2 = 0.99;
    let mut progress = Progress::new(cli.steps, cli.batch);
    for step in 0..cli.steps {
        let plain: Vec<Word> = (0..cli.batch).map(|_| words::random(rng)).collect();
        let cipher: Vec<Word> = plain.iter().map(|word| words::rot13(word)).collect();
        let source = words::batch(&plain, SrcLen)?;
        let labels = words::batch(&cipher, TgtLen)?;

        let inputs = labels.shifted_right(START);
        let output = model.try_forward(&source, &inputs, OwnedTape::default())?;
        let loss = try_cross_entropy(output.logit_output, &labels, Average::EveryPosition)?;
        let value = loss.array();
        if !value.is_finite() {
            return Err(RunError::Diverged { step });
        }
        let gradients = loss.try_backward()?;
        update(
            &mut model,
            gradients,
            &mut adam,
            schedule.learning_rate(step),
            MAX_NORM,
        )?;
        progress.step(value);
    }
    progress.finish();
    Ok(model)
}
