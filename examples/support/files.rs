//! The files of a training: checkpoints, metrics, report, weights.

use super::{BoxError, EXIT_SIGINT, device_error};
use clap::Args;
use dfdx::nn::TensorCollection;
use std::{
    path::{Path, PathBuf},
    process::exit,
    sync::atomic::Ordering,
};
use typed_transformer::{
    backend::Backend,
    nn::Module,
    train::{Metrics, Optimizer, Schedule, Trainer},
    weights::{self, LoadError},
};

/// The options of a training's files.
#[derive(Args)]
pub struct Files {
    /// File for checkpoints of the training. Ctrl-C always saves one [default: the file of --resume, or
    /// else the name of this program and `.checkpoint`]
    #[arg(long, value_name = "PATH")]
    checkpoint: Option<PathBuf>,
    /// Checkpoint to resume from; give all other options as before
    #[arg(long, value_name = "PATH")]
    resume: Option<PathBuf>,
    /// File for metrics, one line of JSON per step
    #[arg(long, value_name = "PATH")]
    metrics: Option<PathBuf>,
    /// Directory for plots of the training and of the model, and for index.html, a page with all of them
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

impl Files {
    /// The checkpoint file: `--checkpoint`, else `--resume`, else `default`.
    pub fn checkpoint<'a>(&'a self, default: &'a str) -> &'a Path {
        let chosen = self.checkpoint.as_ref().or(self.resume.as_ref());
        chosen.map_or(Path::new(default), PathBuf::as_path)
    }

    /// Whether the user named a checkpoint file.
    pub fn has_checkpoint(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }

    /// Prepares `trainer`, and returns the model to train: that of `--resume`, else a new one.
    ///
    /// From now on the trainer writes metrics, and a checkpoint every `interval` steps and after the last
    /// (0 for never). Ctrl-C stops it after the current step with a checkpoint; a second Ctrl-C ends the
    /// program at once.
    pub fn prepare<Model, O, S, D>(
        &self,
        trainer: &mut Trainer<O, S>,
        checkpoint: &Path,
        interval: usize,
        device: &D,
        new: impl FnOnce() -> Result<Model, D::Err>,
    ) -> Result<Model, BoxError>
    where
        Model: Module + TensorCollection<f32, D, To<f32, D> = Model>,
        O: Optimizer<Model, f32>,
        S: Schedule,
        D: Backend<f32>,
    {
        let model = match &self.resume {
            Some(path) => trainer.resume(path, device)?,
            None => new().map_err(device_error)?,
        };
        trainer.checkpoint_every(checkpoint, interval)?;
        if let Some(path) = self.metrics() {
            let metrics = Metrics::open(&path, trainer.steps_made());
            let mut metrics = metrics.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            if self.resume.is_some() && self.report_folder().is_some() {
                metrics.log(Metrics::RESUMED, 1.0);
            }
            trainer.metrics = Some(metrics);
        }
        let stop = trainer.stop.clone();
        ctrlc::set_handler(move || {
            if stop.swap(true, Ordering::Relaxed) {
                exit(EXIT_SIGINT.into());
            }
        })
        .map_err(|error| format!("cannot listen to Ctrl-C: {error}"))?;
        Ok(model)
    }

    /// The file of metrics; a report needs one.
    pub fn metrics(&self) -> Option<PathBuf> {
        let of_report = self.report_folder().map(|folder| folder.join("metrics.jsonl"));
        self.metrics.clone().or(of_report)
    }

    /// The report of `--report`.
    #[cfg(feature = "plot")]
    pub fn report(&self, title: &str) -> Result<Option<super::Report>, BoxError> {
        self.report_folder().map(|folder| super::Report::new(folder, title)).transpose()
    }

    fn report_folder(&self) -> Option<&Path> {
        #[cfg(feature = "plot")]
        return self.report.as_deref();
        #[cfg(not(feature = "plot"))]
        None
    }
}

/// Ctrl-C stopped the training; the message says how to resume it.
#[derive(Debug, thiserror::Error)]
#[error("stopped after step {step} of {steps}; the same command with --resume {} goes on from there", path.display())]
pub struct Interrupted {
    step: usize,
    steps: usize,
    path: PathBuf,
}

/// Returns [`Interrupted`] if Ctrl-C stopped a training of `steps` steps.
///
/// It is called after the training: nothing is left to save, so from now on the first Ctrl-C ends the program.
pub fn check_interrupted<O, S>(trainer: &Trainer<O, S>, steps: usize, checkpoint: &Path) -> Result<(), Interrupted> {
    trainer.stop.store(true, Ordering::Relaxed);
    match trainer.stopped() {
        true => Err(Interrupted { step: trainer.steps_made(), steps, path: checkpoint.into() }),
        false => Ok(()),
    }
}

/// Loads a model; every error names the file.
pub fn load_weights<Model, D>(path: &Path, device: &D) -> Result<Model, BoxError>
where
    Model: Module + TensorCollection<f32, D, To<f32, D> = Model>,
    D: Backend<f32>,
{
    weights::load(path, device).map_err(|error| match error {
        LoadError::Read { .. } | LoadError::Format { .. } => error.into(),
        error => format!("{}: {error}", path.display()).into(),
    })
}
