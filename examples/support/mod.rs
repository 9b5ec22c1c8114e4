//! What the trainings share: the files that they leave, how Ctrl-C stops them, what they show.

mod device;
mod progress;
#[cfg(feature = "plot")]
mod report;

pub use device::{DeviceName, cuda};
pub use progress::{Progress, print, say};
#[cfg(feature = "plot")]
pub use report::Report;

use clap::{Args, builder::RangedU64ValueParser};
use dfdx::nn::TensorCollection;
use std::{
    error::Error,
    fmt::Display,
    path::{Path, PathBuf},
    process::{ExitCode, exit},
    sync::atomic::Ordering,
};
use typed_transformer::{
    backend::Backend,
    nn::Module,
    train::{Metrics, Optimizer, Schedule, Trainer},
};

/// What can go wrong, in one line each.
pub type Failure = Box<dyn Error>;

/// What a device said.
pub fn failed(error: impl Display) -> Failure {
    error.to_string().into()
}

/// What a shell says of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// The files of a training.
#[derive(Args)]
pub struct Files {
    /// Where Ctrl-C saves the training [default: the file of --resume, or else the name of this
    /// program and `.checkpoint`]
    #[arg(long, value_name = "PATH")]
    checkpoint: Option<PathBuf>,
    /// Save it after every so many steps and after the last one too; 0 for never
    #[arg(long, value_name = "STEPS", default_value_t = 0)]
    checkpoint_every: usize,
    /// The checkpoint to go on from; everything else must be given as before
    #[arg(long, value_name = "PATH")]
    resume: Option<PathBuf>,
    /// Where to write a line of JSON for each step
    #[arg(long, value_name = "PATH")]
    metrics: Option<PathBuf>,
    /// Where to put pictures of the training and of the model, and a page that holds them, index.html
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

impl Files {
    /// The model to begin or to go on with. From now on the trainer writes its files, and Ctrl-C
    /// stops it after a step; a second one ends the program at once.
    pub fn open<Model, O, S, D>(
        &self,
        trainer: &mut Trainer<O, S>,
        device: &D,
        new: impl FnOnce() -> Result<Model, Failure>,
    ) -> Result<Model, Failure>
    where
        Model: Module + TensorCollection<f32, D, To<f32, D> = Model>,
        O: Optimizer<Model, f32>,
        S: Schedule,
        D: Backend<f32>,
    {
        let model = match &self.resume {
            Some(path) => trainer.resume(path, device)?,
            None => new()?,
        };
        trainer.checkpoint_every(self.checkpoint(), self.checkpoint_every)?;
        if let Some(path) = self.metrics() {
            let metrics = Metrics::open(&path, trainer.step());
            let cannot = |error| format!("cannot write {}: {error}", path.display());
            let mut metrics = metrics.map_err(cannot)?;
            if self.resume.is_some() && self.report_folder().is_some() {
                metrics.log(Metrics::RESUMED, 1.0);
            }
            trainer.metrics = Some(metrics);
        }
        let stop = trainer.stop.clone();
        ctrlc::set_handler(move || {
            if stop.swap(true, Ordering::Relaxed) {
                exit(INTERRUPTED.into());
            }
        })?;
        Ok(model)
    }

    /// Where the training writes its metrics.
    pub fn metrics(&self) -> Option<PathBuf> {
        let of_report = self.report_folder();
        let of_report = of_report.map(|folder| folder.join("metrics.jsonl"));
        self.metrics.clone().or(of_report)
    }

    /// The report that is asked for.
    #[cfg(feature = "plot")]
    pub fn report(&self, title: &str) -> Result<Option<Report>, Failure> {
        let folder = self.report_folder();
        folder.map(|folder| Report::new(folder, title)).transpose()
    }

    fn report_folder(&self) -> Option<&Path> {
        #[cfg(feature = "plot")]
        return self.report.as_deref();
        #[cfg(not(feature = "plot"))]
        None
    }

    /// Says how to go on with a training that was stopped.
    pub fn say_how_to_resume(&self, steps: usize) -> ExitCode {
        let path = self.checkpoint();
        say(&format!(
            "stopped after step {steps}; to go on, give the same arguments and --resume {}",
            path.display(),
        ));
        ExitCode::from(INTERRUPTED)
    }

    fn checkpoint(&self) -> &Path {
        let chosen = self.checkpoint.as_ref().or(self.resume.as_ref());
        chosen.map_or(Path::new(concat!(env!("CARGO_CRATE_NAME"), ".checkpoint")), PathBuf::as_path)
    }
}

/// Sequences in a batch: more would only fill the memory.
pub fn batch_size() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=10_000)
}

/// A learning rate.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        Ok(_) => Err("it must be above 0 and finite".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// The exit status of a run; what went wrong is said in one line.
pub fn status(result: Result<ExitCode, Failure>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say(&format!("error: {error}"));
        ExitCode::FAILURE
    })
}
