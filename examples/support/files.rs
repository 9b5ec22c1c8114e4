//! The files of a training run: checkpoints, metrics, report, weights.

use super::{
    BoxError, EXIT_SIGINT, Interrupted, Report, World, all, device_error, ensure_not_input, ensure_not_plot,
    hints::{hint, overwrite_hint, schedule_hint, with_hint},
    log, on_first, stop_on_signals,
};
use clap::Args;
use dfdx::nn::TensorCollection;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process,
    sync::atomic::Ordering,
};
use typed_transformer::{
    backend::Backend,
    nn::Module,
    ranks::{Ranks, Replicated},
    train::{Metrics, Optimizer, Schedule, TrainError, Trainer, checkpoint_of, ensure_not_of_checkpoint},
    weights::{self, LoadError, SaveError},
};

/// The options of a training run's files.
#[derive(Args)]
pub struct Files {
    /// File for checkpoints of the training. Ctrl-C always saves one [default: the file of --resume, or
    /// else the name of this program and `.checkpoint`]
    #[arg(long, value_name = "PATH")]
    checkpoint: Option<PathBuf>,
    /// Checkpoint to resume from; give all other options as before
    #[arg(long, value_name = "PATH")]
    resume: Option<PathBuf>,
    /// Resume although --learning-rate or --steps differ from before
    #[arg(long, requires = "resume")]
    new_schedule: bool,
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

/// The failure, if any, of the files of a training run that is complete.
pub type Outcome = Result<(), BoxError>;

impl Files {
    /// The checkpoint file: `--checkpoint`, else that of `--resume`, else `default`.
    pub fn checkpoint(&self, default: &str) -> PathBuf {
        let resumed = self.resume.as_ref().map(checkpoint_of);
        self.checkpoint.clone().or(resumed).unwrap_or_else(|| default.into())
    }

    /// The steps between checkpoints: `interval` if given, else `default` if the user named a checkpoint file, else 0.
    pub fn checkpoint_interval(&self, interval: Option<usize>, default: usize) -> usize {
        let has_file = self.checkpoint.is_some() || self.resume.is_some();
        interval.unwrap_or(if has_file { default } else { 0 })
    }

    /// Prepares `trainer`, and returns the model to train: that of `--resume`, else a new one.
    ///
    /// From now on the first rank's trainer writes metrics, and a checkpoint every `interval` steps and after the last
    /// (0 for never). None of the outputs may be one of `inputs`, or in it if it is a folder. Ctrl-C stops the ranks
    /// after the current step with a checkpoint; a second Ctrl-C ends them at once.
    pub fn prepare<Model, O, S, D>(
        &self,
        ranks: &Ranks<World>,
        trainer: &mut Trainer<O, S>,
        (checkpoint, interval): (&Path, usize),
        inputs: &[&Path],
        device: &D,
        new: impl Fn() -> Result<Model, D::Err>,
    ) -> Result<Replicated<Model, World>, BoxError>
    where
        Model: Module + TensorCollection<f32, D, To<f32, D> = Model>,
        O: Optimizer<Model, f32, D>,
        S: Schedule,
        D: Backend<f32>,
    {
        let model = on_first(ranks, || self.open(trainer, (checkpoint, interval), inputs, device, &new))?;
        let model = ranks.fail_together(model.map_or_else(|| new().map_err(device_error), Ok))?;
        trainer.replicate(ranks, device)?;
        if ranks.is_first() {
            trainer.resume_notes().iter().for_each(|note| log(&note.to_string()));
        }
        ranks.fail_together(stop_on_signals(trainer.stop.clone()))?;
        Ok(ranks.replicate(model)?)
    }

    /// Opens the files, and returns the model to train.
    fn open<Model, O, S, D>(
        &self,
        trainer: &mut Trainer<O, S>,
        (checkpoint, interval): (&Path, usize),
        inputs: &[&Path],
        device: &D,
        new: impl Fn() -> Result<Model, D::Err>,
    ) -> Result<Model, BoxError>
    where
        Model: Module + TensorCollection<f32, D, To<f32, D> = Model>,
        O: Optimizer<Model, f32, D>,
        S: Schedule,
        D: Backend<f32>,
    {
        let page = self.report_folder().map(|folder| folder.join("index.html"));
        let outputs: Vec<PathBuf> = [self.save.clone(), self.metrics(), page].into_iter().flatten().collect();
        weights::ensure_distinct([checkpoint.to_path_buf()].iter().chain(&outputs))?;
        for output in &outputs {
            ensure_not_of_checkpoint(output, checkpoint)?;
            if let Some(resumed) = &self.resume {
                ensure_not_of_checkpoint(output, checkpoint_of(resumed))?;
            }
        }
        let outputs_and_checkpoint = || outputs.iter().map(PathBuf::as_path).chain([checkpoint]);
        for output in outputs_and_checkpoint() {
            inputs.iter().try_for_each(|input| ensure_not_input(output, input))?;
        }
        if let Some(folder) = self.report_folder() {
            let mut files = outputs_and_checkpoint().chain(self.resume.as_deref()).chain(inputs.iter().copied());
            files.try_for_each(|file| ensure_not_plot(file, folder))?;
        }
        if let Some(path) = &self.save {
            match weights::ensure_writable(path) {
                Err(SaveError::Exists { .. }) if self.overwrite => {}
                result => result.map_err(overwrite_hint)?,
            }
            weights::ensure_space(path, 4 * Model::NUM_PARAMS as u64)?;
        }
        trainer.overwrite = self.overwrite;
        trainer.allow_other_schedule = self.new_schedule;
        let model = match &self.resume {
            Some(path) => trainer.resume(path, device).map_err(schedule_hint)?,
            None => new().map_err(device_error)?,
        };
        trainer.checkpoint_every(checkpoint, interval).map_err(overwrite_hint)?;
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

    /// Ends a training run of `steps` steps, and saves its model to the file of `--save`, if any. Fails if Ctrl-C has
    /// stopped the training; otherwise its results are to be shown.
    pub fn finish<Model, O, S, D>(
        &self,
        ranks: &Ranks<World>,
        mut trainer: Trainer<O, S>,
        (steps, checkpoint): (usize, &Path),
        model: &Model,
        metadata: &HashMap<String, String>,
    ) -> Result<Outcome, BoxError>
    where
        Model: Module + TensorCollection<f32, D>,
        D: Backend<f32>,
    {
        // All have made the same steps.
        ranks.finish();
        let finished = trainer.finish();
        let hint = hint(&trainer);
        let is_saved = !matches!(finished, Err(TrainError::Save { .. }));
        let failures = finished.as_ref().err().into_iter().chain(trainer.failures());
        let errors: Vec<String> = failures.map(|error| with_hint(error, &hint)).collect();
        let finished = if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) };
        if trainer.stopped() {
            let interrupted = Interrupted { steps_made: trainer.steps_made(), steps, path: checkpoint.into() };
            return Err(match finished {
                Ok(()) => interrupted.into(),
                Err(errors) if is_saved => format!("{errors}; {interrupted}").into(),
                Err(errors) => errors.into(),
            });
        }
        // Its files are complete, and the lock of its checkpoints ends.
        let stop = trainer.stop.clone();
        drop(trainer);
        let saved = if ranks.is_first() { self.save(model, metadata) } else { Ok(()) };
        let outcome = all([finished.map_err(BoxError::from), saved]);
        // From now on the first Ctrl-C ends the program at once. One that came after the last step does so here. Under
        // `mpirun`, a process must not exit before MPI has ended; the results are there soon.
        if stop.swap(true, Ordering::Relaxed) && ranks.size() == 1 {
            if let Err(error) = outcome {
                log(&format!("error: {error}"));
            }
            process::exit(EXIT_SIGINT.into());
        }
        Ok(outcome)
    }

    /// Saves a model to the file of `--save`, if any. If that fails, it is saved in the folder of temporary
    /// files.
    fn save<Model, D>(&self, model: &Model, metadata: &HashMap<String, String>) -> Outcome
    where
        Model: Module + TensorCollection<f32, D>,
        D: Backend<f32>,
    {
        let Some(path) = &self.save else {
            return Ok(());
        };
        let saved = match self.overwrite {
            true => weights::overwrite_with_metadata(model, path, metadata.clone()),
            false => weights::save_with_metadata(model, path, metadata.clone()),
        };
        let Err(error) = saved else {
            log(&format!("saved {}", path.display()));
            return Ok(());
        };
        match weights::save_elsewhere(model, path, metadata.clone()) {
            Ok(elsewhere) => Err(format!("{error}; the weights are saved at {}", elsewhere.display()).into()),
            Err(_) => Err(error.into()),
        }
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

    fn report_folder(&self) -> Option<&Path> {
        #[cfg(feature = "plot")]
        return self.report.as_deref();
        #[cfg(not(feature = "plot"))]
        None
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
