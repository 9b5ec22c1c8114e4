use super::{
    GradientsOf, Metrics, Optimizer, ResumeError, Schedule, Step, StepReport, TrainError,
    checkpoint::{self, Progress},
    step::Throughput,
    update,
};
use crate::{
    backend::Backend,
    nn::Module,
    ops::OpError,
    weights::{self, SafetensorsDtype, SaveError},
};
use dfdx::nn::TensorCollection;
use std::{
    fmt::Display,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// The state of a training besides its model: optimizer, schedule, steps made, seed, best loss. A checkpoint
/// holds it together with the model. The total number of steps is not stored.
///
/// The caller writes the step itself, forward, loss and backward:
///
/// ```
/// # use dfdx::tensor::OnesTensor;
/// use rand::Rng;
/// use typed_transformer::{nn::Linear, prelude::*, train::{AdamW, Constant, Trainer}};
/// dims! { pub InDim = 3; pub VocabSize = 5; pub SeqLen = 1; pub Batch = 2; }
///
/// let device = Cpu::seed_from_u64(0);
/// let mut model = Linear::<InDim, VocabSize, f32, Cpu>::build(&device);
/// let mut trainer = Trainer::new(AdamW::default(), Constant(1e-3), 100, 0);
/// trainer.clip_norm = 1.0;
/// while let Some(mut step) = trainer.next_step() {
///     let ids = [0; 2].map(|_| step.rng.gen_range(0..5));
///     let labels = TokenIds::from_ids(&ids, None, (Batch, SeqLen))?;
///     let input: Tensor<(Batch, SeqLen, InDim), f32, Cpu> = device.ones();
///
///     let logits = model.forward(input.put_tape(model.recording()));
///     let loss = cross_entropy(logits, &labels, Reduction::MeanAll);
///     let value = loss.array();
///     let gradients = loss.backward();
///     trainer.update(&mut model, gradients, value.into(), ids.len())?;
/// }
/// assert_eq!(trainer.steps_made(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Random numbers
///
/// All random numbers of a step depend only on the trainer's seed and the number of the step:
/// those of [`Step::rng`], from which the caller draws the batch, and those of dropout while the [`Step`]
/// lives. No generator state has to be stored.
///
/// # Resuming
///
/// Resuming is bit-exact if the number of threads is the same: [`resume`](Self::resume) continues as if the
/// training had never stopped. Another number of threads changes the order of some sums, and with it
/// the last bits. Three more conditions:
///
/// - The batches come from [`Step::rng`] and [`Step::number`] alone.
/// - The program and the kind of processor are the same.
/// - The settings are the same. The trainer compares those that it knows: the type of the model and its
///   conventions, the hyperparameters of the optimizer, the schedule, the clip norm, the seed, and
///   the values given to [`require_same`](Self::require_same). It cannot compare functions, such as
///   [`AdamW::weight_decay_filter`](super::AdamW::weight_decay_filter).
#[derive(Debug)]
pub struct Trainer<O, S> {
    /// Computes new parameters from gradients.
    pub optimizer: O,
    /// The learning rate of each step.
    pub schedule: S,
    /// The maximum global norm of the gradients; initially infinite.
    pub clip_norm: f64,
    /// Where each step writes a line, if anywhere.
    pub metrics: Option<Metrics>,
    /// Set it to true, as a Ctrl-C handler does, to end the training after the current step, with a checkpoint.
    pub stop: Arc<AtomicBool>,
    required: Vec<(String, String)>,
    /// The path and the interval in steps.
    checkpoint: Option<(PathBuf, usize)>,
    steps: usize,
    seed: u64,
    progress: Progress,
    stopped: bool,
    throughput: Option<Throughput>,
}

impl<O, S> Trainer<O, S> {
    /// A training of `steps` steps, before its first step.
    pub fn new(optimizer: O, schedule: S, steps: usize, seed: u64) -> Self {
        Self {
            optimizer,
            schedule,
            clip_norm: f64::INFINITY,
            metrics: None,
            stop: Arc::default(),
            required: Vec::new(),
            checkpoint: None,
            steps,
            seed,
            progress: Progress { step: 0, best_loss: f64::INFINITY },
            stopped: false,
            throughput: None,
        }
    }

    /// Adds a setting that determines the result, such as the batch size. [`resume`](Self::resume)
    /// refuses a checkpoint in which its value differs.
    pub fn require_same(&mut self, name: &str, value: impl Display) {
        self.required.push((name.to_string(), value.to_string()));
    }

    /// Saves the training at `path` after every `steps` steps, after the last step, and when it is
    /// stopped. With `steps` 0, only when it is stopped.
    ///
    /// Removes incomplete files that an earlier run left beside `path`, so no other run may be saving
    /// there.
    ///
    /// # Errors
    /// [`SaveError::Write`] if the file cannot be written.
    pub fn checkpoint_every(&mut self, path: impl AsRef<Path>, steps: usize) -> Result<(), SaveError> {
        let path = path.as_ref().to_path_buf();
        weights::ensure_writable(&path)?;
        weights::clear_partial(&path).map_err(|source| SaveError::Write { path: path.clone(), source })?;
        self.checkpoint = Some((path, steps));
        Ok(())
    }

    /// The number of steps made so far.
    pub fn steps_made(&self) -> usize {
        self.progress.step
    }

    /// Whether it ended before its last step because [`stop`](Self::stop) was true.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// The lowest loss given to [`record_best`](Self::record_best); initially infinite.
    pub fn best_loss(&self) -> f64 {
        self.progress.best_loss
    }

    /// Records a loss and returns whether it is the lowest so far. Checkpoints store the lowest loss. Call
    /// it before [`update`](Self::update), so that the checkpoint of the step includes it.
    pub fn record_best(&mut self, loss: f64) -> bool {
        let is_best = loss < self.progress.best_loss;
        if is_best {
            self.progress.best_loss = loss;
        }
        is_best
    }

    /// The next step; `None` after the last one, or if the training was stopped.
    pub fn next_step(&mut self) -> Option<Step> {
        let number = self.progress.step;
        if number >= self.steps || self.stopped {
            return None;
        }
        self.throughput.get_or_insert_with(Throughput::start);
        Some(Step::new(number, self.seed))
    }
}

impl<O, S: Schedule> Trainer<O, S> {
    /// Finishes a step of `tokens` tokens: clips the gradients, lets the optimizer step at the learning
    /// rate of the schedule, writes the metrics, and saves a checkpoint if one is due.
    ///
    /// # Errors
    /// [`TrainError::Loss`] and [`TrainError::Gradient`] if the loss or the gradients are not finite,
    /// [`TrainError::Op`] if the device fails: the step is not made. [`TrainError::Save`] and
    /// [`TrainError::Metrics`] if a file cannot be written: the step is made.
    pub fn update<Model, E, D>(
        &mut self,
        model: &mut Model,
        gradients: GradientsOf<Model, E, D>,
        loss: f64,
        tokens: usize,
    ) -> Result<StepReport, TrainError>
    where
        O: Optimizer<Model, E>,
        Model: Module + TensorCollection<E, D>,
        E: SafetensorsDtype,
        D: Backend<E>,
    {
        let step = self.progress.step;
        if !loss.is_finite() {
            return Err(TrainError::Loss { step, loss });
        }
        let learning_rate = self.schedule.learning_rate(step);
        let optimizer = &mut self.optimizer;
        let gradient_norm =
            update(model, gradients, optimizer, learning_rate, self.clip_norm).map_err(|error| match error {
                OpError::Gradient { norm } => TrainError::Gradient { step, norm },
                error => TrainError::Op(error),
            })?;
        self.progress.step += 1;

        let steps_left = self.steps.saturating_sub(self.progress.step);
        let (tokens_per_second, time_left) = match &mut self.throughput {
            Some(throughput) => throughput.count_step(tokens, steps_left),
            None => (0.0, Duration::MAX),
        };
        let report = StepReport {
            step: self.progress.step,
            steps: self.steps,
            loss,
            learning_rate,
            gradient_norm,
            tokens_per_second,
            time_left,
        };
        // A failure is returned only after the checkpoint is saved.
        let metrics_written = self.write_metrics(&report);
        self.stopped = self.stop.load(Ordering::Relaxed);
        if let Some((path, interval)) = &self.checkpoint {
            let is_last = report.step == self.steps;
            let is_due = *interval > 0 && (is_last || report.step.is_multiple_of(*interval));
            if is_due || self.stopped {
                self.save(model, path)?;
            }
        }
        metrics_written?;
        Ok(report)
    }

    /// Saves the training: model, optimizer state, step, best loss and settings.
    ///
    /// As with [`weights::save`](crate::weights::save), an existing file stays intact until the new one is
    /// complete.
    ///
    /// # Errors
    /// [`SaveError`] if the file cannot be written, or if an element is not finite: the training could
    /// not continue from it.
    pub fn save<Model, E, D>(&self, model: &Model, path: impl AsRef<Path>) -> Result<(), SaveError>
    where
        O: Optimizer<Model, E>,
        Model: Module + TensorCollection<E, D>,
        E: SafetensorsDtype,
        D: Backend<E>,
    {
        checkpoint::save(path.as_ref(), model, self.optimizer.state(), self.progress, self.settings())
    }

    /// Loads a training: returns its model, and sets the optimizer state, the step and the best loss.
    ///
    /// # Errors
    /// A [`ResumeError`] that names the first difference between the file and this training. The
    /// training is then unchanged.
    pub fn resume<Model, E, D>(&mut self, path: impl AsRef<Path>, device: &D) -> Result<Model, ResumeError>
    where
        O: Optimizer<Model, E>,
        Model: Module + TensorCollection<E, D, To<E, D> = Model>,
        E: SafetensorsDtype,
        D: Backend<E>,
    {
        let settings = self.settings();
        let state = self.optimizer.state_mut();
        let (model, progress) = checkpoint::load(path.as_ref(), device, state, settings)?;
        self.progress = progress;
        Ok(model)
    }

    /// The settings that a checkpoint must share, by name.
    fn settings<Model, E>(&self) -> Vec<(String, String)>
    where
        O: Optimizer<Model, E>,
    {
        let mut settings: Vec<(String, String)> = vec![
            ("the optimizer".into(), self.optimizer.hyperparameters()),
            ("the schedule".into(), format!("{:?}", self.schedule)),
            ("the clip norm".into(), self.clip_norm.to_string()),
            ("the random generator".into(), format!("ChaCha8 with seed {}", self.seed)),
        ];
        settings.extend_from_slice(&self.required);
        settings
    }

    fn write_metrics(&mut self, report: &StepReport) -> Result<(), TrainError> {
        let Some(metrics) = &mut self.metrics else {
            return Ok(());
        };
        let values = [
            ("loss", report.loss),
            ("learning_rate", report.learning_rate),
            ("gradient_norm", report.gradient_norm),
            ("tokens_per_second", report.tokens_per_second),
        ];
        let written = metrics.write(report.step, &values);
        written.map_err(|source| TrainError::Metrics { path: metrics.path().to_path_buf(), source })
    }
}
