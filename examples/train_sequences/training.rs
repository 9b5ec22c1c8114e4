//! The training loop.

use crate::{
    cli::Cli,
    model::Model,
    sequences::{self, BEGIN, Sequence},
    support::{Failure, Progress, failed},
};
use dfdx::{nn::BuildModule, tensor::OwnedTape, tensor_ops::Backward};
use std::{process::ExitCode, sync::atomic::Ordering};
use typed_transformer::{
    backend::Backend,
    ops::Reduction,
    train::{Adam, Constant, Trainer, try_cross_entropy},
};

/// The mean loss of this many last steps is reported.
const LAST_STEPS: usize = 500;

/// A model, trained for `--steps` steps on `--batch` sequences each; the exit status if it was stopped.
pub fn train<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<Result<Model<D>, ExitCode>, Failure> {
    let schedule = Constant(cli.learning_rate);
    let mut trainer = Trainer::new(Adam::default(), schedule, cli.steps, cli.seed);
    trainer.pin("the batch", cli.batch);
    let new = || Model::try_build(device).map_err(failed);
    let mut model = cli.files.open(&mut trainer, device, new)?;

    let progress = Progress::new(cli.steps);
    let mut losses = Vec::new();
    while let Some(mut step) = trainer.next_step() {
        let sequences: Vec<Sequence> = (0..cli.batch).map(|_| Sequence::random(&mut step.rng)).collect();
        let source = sequences::sources(&sequences)?;
        let labels = sequences::labels(&sequences)?;

        let inputs = labels.shifted_right(BEGIN);
        let output = model.try_forward(&source, &inputs, OwnedTape::default())?;
        let average = Reduction::MeanPerSequence;
        let loss = try_cross_entropy(output.logit_output, &labels, average)?;
        let value = f64::from(loss.as_vec()[0]);
        let tokens = source.as_slice().len() + labels.as_slice().len();
        let gradients = loss.try_backward().map_err(failed)?;
        let report = trainer.update(&mut model, gradients, value, tokens)?;
        progress.step(&report);
        losses.push(value);
    }
    let last = &losses[losses.len().saturating_sub(LAST_STEPS)..];
    if !last.is_empty() {
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        progress.say(&format!("mean loss {mean:.4} of the last {} steps", last.len()));
    }
    progress.finish();
    if trainer.stopped() {
        return Ok(Err(cli.files.say_how_to_resume(trainer.step())));
    }
    // From here on Ctrl-C has nothing to save.
    trainer.stop.store(true, Ordering::Relaxed);
    Ok(Ok(model))
}
