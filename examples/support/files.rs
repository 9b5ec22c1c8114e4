//! The files of a training run: checkpoints, metrics, report, weights.

use super::{
    BoxError, EXIT_SIGINT, Interrupted, Report, Trainable, all, device_error, ensure_not_input, ensure_not_plot,
    hints::{hint, overwrite_hint, schedule_hint, with_hint},
    log,
    outputs::{save, save_elsewhere},
    stop_on_signals,
};
use clap::Args;
use std::{
    cell::Cell,
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicBool, Ordering},
};
use typed_transformer::{
    backend::Backend,
    train::{Metrics, Optimizer, Schedule, TrainError, Trainer, checkpoint_of, ensure_not_of_checkpoint},
    weights::{self, LoadError, SaveError},
};

/// The options of a training run's files.
#[derive(Args)]
pub struct Files {
    /// File for checkpoints of the training. Ctrl-C saves one, too [default: the file of --resume, or
    /// else the name of this program and `.checkpoint`]
    #[arg(long, value_name = "PATH")]
    checkpoint: Option<PathBuf>,
    /// Checkpoint to resume from; give all other options as before
    #[arg(long, value_name = "PATH")]
    resume: Option<PathBuf>,
    /// Resume although --learning-rate or --steps differ from before
    #[arg(long, requires = "resume")]
    new_schedule: bool,
    /// Save checkpoints and weights although the mean loss is far above the first loss
    #[arg(long)]
    pub(super) loss_may_rise: bool,
    /// File for metrics, one line of JSON per step
    #[arg(long, value_name = "PATH")]
    metrics: Option<PathBuf>,
    /// Directory for plots of the training and of the model, and for index.html, a page with all of them
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// File to save the weights to, as safetensors
    #[arg(long, value_name = "PATH")]
    save: Option<PathBuf>,
    /// Replace files of another kind or of another training run
    #[arg(long)]
    overwrite: bool,
}

/// Success, or one error of what failed: files, output, the goal.
pub type Outcome = Result<(), BoxError>;

/// Where and how often a training run saves checkpoints.
pub struct Checkpoints {
    pub path: PathBuf,
    /// The steps between checkpoints, with another one after the last step; 0 for none.
    pub interval: usize,
    /// Whether the user asked for none, so that only a stopped training saves one, in the default file.
    is_for_stop_alone: bool,
    /// Whether the training that was resumed has no step left.
    is_complete: Cell<bool>,
}

impl Checkpoints {
    /// Removes what Ctrl-C saved of a training that was resumed and is complete now: it would be in the way of the next
    /// one.
    fn remove(&self) {
        for suffix in ["", ".best", ".previous-1"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            // There may be no such file.
            let _ = fs::remove_file(path);
        }
    }
}

impl Files {
    /// Whether the user named another file for checkpoints than `default`.
    pub fn names_checkpoint(&self, default: &str) -> bool {
        let resumed = self.resume.as_ref().map(checkpoint_of);
        let is_default = |resumed: &Path| {
            let [resumed, default] = [resumed, Path::new(default)].map(|path| std::path::absolute(path).ok());
            resumed == default
        };
        self.checkpoint.is_some() || resumed.is_some_and(|resumed| !is_default(&resumed))
    }

    /// Checkpoints in the file of `--checkpoint`, else in that of `--resume`, else in `default`.
    pub fn checkpoints(&self, default: &str, interval: usize) -> Checkpoints {
        let resumed = self.resume.as_ref().map(checkpoint_of);
        Checkpoints {
            path: self.checkpoint.clone().or(resumed).unwrap_or_else(|| default.into()),
            interval,
            is_for_stop_alone: interval == 0 && !self.names_checkpoint(default),
            is_complete: Cell::default(),
        }
    }

    /// Prepares `trainer`, and returns the model to train: that of `--resume`, else a new one.
    ///
    /// From now on the trainer writes metrics and checkpoints. Ctrl-C stops it after the current step with a
    /// checkpoint; a second Ctrl-C ends the program at once.
    pub fn prepare<M: Trainable<D>, O: Optimizer<M, f32, D>, S: Schedule, D: Backend<f32>>(
        &self,
        trainer: &mut Trainer<O, S>,
        checkpoints: &Checkpoints,
        device: &D,
        new: impl Fn() -> Result<M, D::Err>,
    ) -> Result<M, BoxError> {
        trainer.loss_may_rise = self.loss_may_rise;
        let model = self.open(trainer, checkpoints, device, new)?;
        trainer.resume_notes().iter().for_each(|note| log(&note.to_string()));
        stop_on_signals(trainer.stop.clone())?;
        Ok(model)
    }

    /// Opens the files, and returns the model to train.
    pub(super) fn open<M: Trainable<D>, O: Optimizer<M, f32, D>, S: Schedule, D: Backend<f32>>(
        &self,
        trainer: &mut Trainer<O, S>,
        Checkpoints { path: checkpoint, interval, is_complete, .. }: &Checkpoints,
        device: &D,
        new: impl Fn() -> Result<M, D::Err>,
    ) -> Result<M, BoxError> {
        let outputs = self.outputs();
        weights::ensure_distinct([checkpoint].into_iter().chain(&outputs))
            .map_err(|error| format!("{error}; --checkpoint, --metrics, --report and --save name different ones"))?;
        for output in &outputs {
            ensure_not_of_checkpoint(output, checkpoint)?;
            if let Some(resumed) = &self.resume {
                ensure_not_of_checkpoint(output, checkpoint_of(resumed))?;
            }
        }
        if let Some(folder) = self.report_folder() {
            let mut files = outputs.iter().chain([checkpoint]).chain(&self.resume);
            files.try_for_each(|file| ensure_not_plot(file, folder))?;
        }
        if let Some(path) = &self.save {
            match weights::ensure_writable(path) {
                Err(SaveError::Exists { .. }) if self.overwrite => {}
                result => result.map_err(overwrite_hint)?,
            }
            weights::ensure_space(path, 4 * M::NUM_PARAMS as u64)?;
        }
        trainer.overwrite = self.overwrite;
        trainer.allow_other_schedule = self.new_schedule;
        let model = match &self.resume {
            Some(path) => trainer.resume(path, device).map_err(schedule_hint)?,
            None => new().map_err(device_error)?,
        };
        is_complete.set(trainer.is_finished());
        trainer.checkpoint_every(checkpoint, *interval).map_err(overwrite_hint)?;
        if let Some(path) = self.metrics() {
            trainer.metrics = Some(self.open_metrics(&path, trainer.steps_made())?);
        }
        Ok(model)
    }

    fn open_metrics(&self, path: &Path, steps: usize) -> Result<Metrics, BoxError> {
        let open = if self.overwrite { Metrics::overwrite } else { Metrics::open };
        let mut metrics = open(path, steps).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::InvalidData => "; --overwrite replaces it",
                _ => "",
            };
            format!("cannot write {}: {error}{hint}", path.display())
        })?;
        if let Some(kept) = metrics.kept() {
            log(&format!(
                "a line of {} is missing or damaged; the file is kept as {}, and a new one begins",
                path.display(),
                kept.display()
            ));
        }
        if self.resume.is_some() && self.report_folder().is_some() {
            metrics.log(Metrics::RESUMED, 1.0);
        }
        Ok(metrics)
    }

    /// Checks that no output is a file that the program reads, or in a folder that it reads.
    pub fn ensure_not_inputs(&self, checkpoints: &Checkpoints, inputs: &[&Path]) -> Outcome {
        for input in inputs {
            self.outputs().iter().chain([&checkpoints.path]).try_for_each(|output| ensure_not_input(output, input))?;
            self.report_folder().map_or(Ok(()), |folder| ensure_not_plot(input, folder))?;
        }
        Ok(())
    }

    /// Ends a training run of `steps` steps, and saves its model to the file of `--save`, if any. Fails if Ctrl-C has
    /// stopped the training; otherwise its results are to be shown. A Ctrl-C after the last step ends the program.
    pub fn finish<M: Trainable<D>, O, S, D: Backend<f32>>(
        &self,
        trainer: Trainer<O, S>,
        steps: usize,
        checkpoints: &Checkpoints,
        model: &M,
    ) -> Result<Outcome, BoxError> {
        let stop = trainer.stop.clone();
        let outcome = self.close(trainer, steps, checkpoints, model, &HashMap::new())?;
        exit_if_stopped(&stop, &outcome);
        Ok(outcome)
    }

    /// Completes the files. Fails if Ctrl-C has stopped the training.
    pub(super) fn close<M: Trainable<D>, O, S, D: Backend<f32>>(
        &self,
        mut trainer: Trainer<O, S>,
        steps: usize,
        checkpoints: &Checkpoints,
        model: &M,
        metadata: &HashMap<String, String>,
    ) -> Result<Outcome, BoxError> {
        let finished = trainer.finish();
        let hint = hint(&trainer);
        let is_saved = !trainer.is_diverged() && !matches!(finished, Err(TrainError::Save { .. }));
        let failures = finished.as_ref().err().into_iter().chain(trainer.failures());
        let errors: Vec<String> = failures.map(|error| with_hint(error, &hint)).collect();
        let finished = if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) };
        let saved = match &self.save {
            // At the path there may be weights of an earlier training, which are of more use.
            Some(path) if trainer.is_diverged() => Err(save_elsewhere(model, path, metadata)),
            // A training that was stopped needs no file of weights: its checkpoint has them.
            Some(path) if !trainer.stopped() => save(model, path, metadata, self.overwrite),
            _ => Ok(()),
        };
        let outcome = all([finished.map_err(BoxError::from), saved]);
        if trainer.stopped() {
            let interrupted = Interrupted::new(&trainer, steps, checkpoints);
            return Err(match outcome {
                Ok(()) => interrupted.into(),
                Err(errors) if is_saved => format!("{errors}; {interrupted}").into(),
                Err(errors) => errors,
            });
        }
        // The default files are of this training only with `--resume`. After Ctrl-C in the last step, or if no step
        // was left, they stay: without `--save`, nothing else remains of it.
        let is_interrupted = trainer.stop.load(Ordering::Relaxed);
        let has_trained_on = self.resume.is_some() && !checkpoints.is_complete.get();
        if checkpoints.is_for_stop_alone && has_trained_on && outcome.is_ok() && !is_interrupted {
            checkpoints.remove();
        }
        // The trainer ends here, and with it the lock of the checkpoints.
        Ok(outcome)
    }

    /// The file of metrics; a report needs one.
    pub fn metrics(&self) -> Option<PathBuf> {
        let of_report = self.report_folder().map(|folder| folder.join("metrics.jsonl"));
        self.metrics.clone().or(of_report)
    }

    /// The report of `--report`.
    pub fn report(&self, title: &str) -> Result<Option<Report>, BoxError> {
        self.report_folder().map(|folder| Report::new(folder, title, self.overwrite)).transpose()
    }

    /// Everything that is written besides checkpoints and plots.
    fn outputs(&self) -> Vec<PathBuf> {
        let page = self.report_folder().map(|folder| folder.join("index.html"));
        [self.save.clone(), self.metrics(), page].into_iter().flatten().collect()
    }

    fn report_folder(&self) -> Option<&Path> {
        #[cfg(feature = "plot")]
        return self.report.as_deref();
        #[cfg(not(feature = "plot"))]
        None
    }
}

/// Ends the program if Ctrl-C came after the last step. From now on the first Ctrl-C ends it at once.
pub(super) fn exit_if_stopped(stop: &AtomicBool, outcome: &Outcome) {
    if stop.swap(true, Ordering::Relaxed) {
        if let Err(error) = outcome {
            log(&format!("error: {error}"));
        }
        process::exit(EXIT_SIGINT.into());
    }
}

/// Loads a model; every error names the file.
pub fn load_weights<M: Trainable<D>, D: Backend<f32>>(path: &Path, device: &D) -> Result<M, BoxError> {
    weights::load(path, device).map_err(|error| match error {
        LoadError::Checkpoint { path } => format!(
            "{} is a checkpoint, not a file of weights; --resume goes on with it, and --save then saves the weights",
            path.display()
        )
        .into(),
        LoadError::Read { .. } | LoadError::Format { .. } => error.into(),
        error => format!("{}: {error}", path.display()).into(),
    })
}
