//! The training loop.

use crate::{
    cli::Cli,
    model::{self, Batch, Block, Model, SeqLen, VocabSize},
    support::{Failure, Progress, failed},
    text::{Pieces, Text},
};
use dfdx::{
    shapes::Rank0,
    tensor::{NoneTape, OwnedTape, Tape, Tensor},
    tensor_ops::Backward,
};
use rand::{SeedableRng, rngs::StdRng};
use std::{process::ExitCode, sync::atomic::Ordering};
use typed_transformer::{
    backend::Backend,
    dims::ConstDim,
    ops::{OpError, Reduction},
    train::{AdamW, Trainer, WarmupCosine, try_cross_entropy},
};

/// The global norm that gradients are clipped to.
const MAX_NORM: f64 = 1.0;
/// Batches of each part of the text that a look at its loss takes.
const LOOK: usize = 20;

/// A model, trained for `--steps` steps on `--batch` pieces each; the exit status if it was stopped.
pub fn train<D: Backend<f32>>(
    cli: &Cli,
    text: &Text,
    device: &D,
) -> Result<Result<Model<D>, ExitCode>, Failure> {
    let schedule = WarmupCosine {
        peak_value: cli.learning_rate,
        end_value: cli.learning_rate / 10.0,
        warmup_steps: 100,
        steps: cli.steps,
    };
    // On matrices only, as AdamW does by itself.
    let mut adam = AdamW { weight_decay: 0.1, ..AdamW::default() };
    adam.adam.beta2 = 0.99;
    let mut trainer = Trainer::new(adam, schedule, cli.steps, cli.seed);
    trainer.clip_norm = MAX_NORM;
    trainer.pin("the batch", cli.batch);
    trainer.pin("the text", &text.fingerprint);
    let new = || model::new(device).map_err(failed);
    let mut model = cli.files.open(&mut trainer, device, new)?;

    let progress = Progress::new(cli.steps);
    while let Some(mut step) = trainer.next_step() {
        if cli.interval > 0 && step.number.is_multiple_of(cli.interval) {
            let (training, validation) = look(&model, text, cli)?;
            progress.say(&told(step.number, training, validation));
            if let Some(metrics) = &mut trainer.metrics {
                metrics.log("training_loss", training);
                metrics.log("validation_loss", validation);
            }
        }
        let pieces = Pieces::random(&text.training, cli.batch, &mut step.rng)?;
        let loss = loss(&model, &pieces, OwnedTape::default())?;
        let value = f64::from(loss.as_vec()[0]);
        let tokens = cli.batch * Block::SIZE;
        let gradients = loss.try_backward().map_err(failed)?;
        let report = trainer.update(&mut model, gradients, value, tokens)?;
        progress.step(&report);
    }
    if !trainer.stopped() {
        // From here on Ctrl-C has nothing to save.
        trainer.stop.store(true, Ordering::Relaxed);
        let (training, validation) = look(&model, text, cli)?;
        progress.say(&told(trainer.step(), training, validation));
    }
    progress.finish();
    Ok(match trainer.stopped() {
        false => Ok(model),
        true => Err(cli.files.say_how_to_resume(trainer.step())),
    })
}

fn told(steps: usize, training: f64, validation: f64) -> String {
    format!("after step {steps}: training loss {training:.4}, validation loss {validation:.4}")
}

/// The loss of both parts of the text, each over the same few batches at every look.
fn look<D: Backend<f32>>(model: &Model<D>, text: &Text, cli: &Cli) -> Result<(f64, f64), Failure> {
    let of = |part: &[usize]| {
        let mut rng = StdRng::seed_from_u64(cli.seed);
        mean_loss(model, (0..LOOK).map(|_| Pieces::random(part, cli.batch, &mut rng)))
    };
    Ok((of(&text.training)?, of(&text.validation)?))
}

/// The mean loss of a character of the whole validation part.
pub fn validation_loss<D: Backend<f32>>(model: &Model<D>, text: &Text, batch: usize) -> Result<f64, Failure> {
    mean_loss(model, Pieces::all(&text.validation, batch))
}

/// The mean loss of a character.
fn mean_loss<D: Backend<f32>>(
    model: &Model<D>,
    batches: impl Iterator<Item = Result<Pieces, Failure>>,
) -> Result<f64, Failure> {
    let (mut sum, mut count) = (0.0, 0);
    for pieces in batches {
        let pieces = pieces?;
        let characters = pieces.labels.as_slice().len();
        sum += f64::from(loss(model, &pieces, NoneTape)?.as_vec()[0]) * characters as f64;
        count += characters;
    }
    Ok(sum / count as f64)
}

fn loss<D: Backend<f32>, T: Tape<f32, D>>(
    model: &Model<D>,
    pieces: &Pieces,
    tape: T,
) -> Result<Tensor<Rank0, f32, D, T>, OpError> {
    let logits: Tensor<(Batch, SeqLen, VocabSize), _, _, _> = model.try_forward(&pieces.inputs, tape)?;
    try_cross_entropy(logits, &pieces.labels, Reduction::MeanAll)
}
