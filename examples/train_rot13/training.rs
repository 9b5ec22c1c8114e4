//! The training loop.

use crate::{
    cli::{Cli, RunError},
    model::Model,
    progress::Progress,
    words::{self, START, SrcLen, TgtLen, Word},
};
use dfdx::{nn::BuildModule, tensor::OwnedTape, tensor_ops::Backward};
use std::{path::PathBuf, process::exit, sync::atomic::Ordering};
use typed_transformer::{
    backend::Backend,
    dims::ConstDim,
    ops::Reduction,
    train::{Adam, Metrics, TrainError, Trainer, WarmupCosine, try_cross_entropy},
};

/// The global norm that gradients are clipped to.
const MAX_NORM: f64 = 1.0;
/// Steps from checkpoint to checkpoint.
const EVERY: usize = 100;
/// Where a training is saved that is stopped without a word of where.
const CHECKPOINT: &str = "rot13.checkpoint";
/// The exit status of a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// A model, trained for `--steps` steps on `--batch` words each.
pub fn train<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<Model<D>, RunError> {
    let failed = |error: D::Err| RunError::Device(error.to_string());
    let schedule = WarmupCosine {
        peak_value: cli.learning_rate,
        end_value: cli.learning_rate / 200.0,
        warmup_steps: 100,
        steps: cli.steps,
    };
    let mut adam = Adam::default();
    adam.beta2 = 0.99;
    let mut trainer = Trainer::new(adam, schedule, cli.steps, cli.seed);
    trainer.clip_norm = MAX_NORM;
    trainer.pin("the batch", cli.batch);

    let mut model = match &cli.resume {
        Some(path) => trainer.resume(path, device)?,
        None => Model::try_build(device).map_err(failed)?,
    };
    let checkpoint = cli.resume.as_ref().or(cli.checkpoint.as_ref());
    if let Some(path) = checkpoint {
        trainer.checkpoint_every(path, EVERY)?;
    }
    if let Some(path) = cli.metrics() {
        let metrics = Metrics::open(&path, trainer.step());
        let mut metrics = metrics.map_err(|source| TrainError::Metrics { path, source })?;
        if cli.resume.is_some() && cli.report().is_some() {
            metrics.log(Metrics::RESUMED, 1.0);
        }
        trainer.metrics = Some(metrics);
    }
    let stop = trainer.stop.clone();
    ctrlc::set_handler(move || {
        // Whoever presses it twice does not want to wait for the end of the step.
        if stop.swap(true, Ordering::Relaxed) {
            exit(INTERRUPTED.into());
        }
    })?;

    let progress = Progress::new(cli.steps);
    while let Some(mut step) = trainer.next_step() {
        let plain: Vec<Word> = (0..cli.batch).map(|_| words::random(&mut step.rng)).collect();
        let cipher: Vec<Word> = plain.iter().map(|word| words::rot13(word)).collect();
        let source = words::batch(&plain, SrcLen)?;
        let labels = words::batch(&cipher, TgtLen)?;

        let inputs = labels.shifted_right(START);
        let output = model.try_forward(&source, &inputs, OwnedTape::default())?;
        let loss = try_cross_entropy(output.logit_output, &labels, Reduction::MeanAll)?;
        let value = loss.as_vec()[0];
        let gradients = loss.try_backward().map_err(failed)?;
        let tokens = cli.batch * TgtLen::SIZE;
        let report = trainer.update(&mut model, gradients, value.into(), tokens)?;
        progress.show(&report);
    }
    progress.finish();
    if trainer.stopped() {
        let path = checkpoint.cloned().unwrap_or(PathBuf::from(CHECKPOINT));
        if checkpoint.is_none() {
            trainer.save(&model, &path)?;
        }
        return Err(RunError::Stopped { step: trainer.step(), steps: cli.steps, path });
    }
    Ok(model)
}
