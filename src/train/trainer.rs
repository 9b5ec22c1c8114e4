use super::{
    Metrics, Optimizer, ResumeError, Schedule,
    checkpoint::{self, Progress},
    update,
};
use crate::backend::Backend;
use crate::{
    nn::Module,
    ops::{DropoutSeed, OpError},
    weights::{self, SafetensorsDtype, SaveError},
};
use dfdx::{nn::TensorCollection, tensor::Gradients};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::{
    fmt::Display,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// What a training is besides its model: everything that goes on from step to step, and is in its
/// checkpoints.
///
/// The step itself, forward, loss, backward, update, is the user's:
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
///     let logits = model.forward(input.leaky_traced());
///     let loss = cross_entropy(logits, &labels, Reduction::MeanAll);
///     let value = loss.array();
///     let gradients = loss.backward();
///     trainer.update(&mut model, gradients, value.into(), ids.len())?;
/// }
/// assert_eq!(trainer.step(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Random numbers
///
/// All that is random in a step comes from the trainer's seed and the number of the step: what is
/// drawn from [`Step::rng`], the batch say, and what dropout drops while the [`Step`] lives. So there
/// is no state that a resumed training could lack.
///
/// # Resuming
///
/// After [`resume`](Self::resume) the training goes on to the last bit as if it had never stopped, if
/// it draws its batches from [`Step::rng`] and is set to the same. What the trainer knows of that,
/// optimizer, schedule, clipping, seed and [`setting`](Self::pin)s, is compared.
#[derive(Debug)]
pub struct Trainer<O, S> {
    /// Turns gradients into new parameters.
    pub optimizer: O,
    /// Gives each step its learning rate.
    pub schedule: S,
    /// The global norm that gradients are clipped to; infinite at first.
    pub clip_norm: f64,
    /// Where each step writes a line, if anywhere.
    pub metrics: Option<Metrics>,
    /// Once it is true, the step in progress is the last one and is saved: for a handler of Ctrl-C.
    pub stop: Arc<AtomicBool>,
    settings: Vec<(String, String)>,
    checkpoint: Option<(PathBuf, usize)>,
    steps: usize,
    seed: u64,
    progress: Progress,
    stopped: bool,
    clock: Option<Throughput>,
}

/// When this run of a training began, and what it has done since.
#[derive(Debug)]
struct Throughput {
    begun: Instant,
    steps: usize,
    tokens: usize,
}

/// A step of a training, to be made while this lives.
pub struct Step {
    /// Its number, the first being 0.
    pub number: usize,
    /// Its random numbers.
    pub rng: ChaCha8Rng,
    _dropout: DropoutSeed,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Steps made, this one included.
    pub step: usize,
    /// Steps to be made in all.
    pub steps: usize,
    /// The loss before the update.
    pub loss: f64,
    /// The learning rate of the update.
    pub learning_rate: f64,
    /// The global norm of the gradients before clipping.
    pub gradient_norm: f64,
    /// Tokens a second, on average since this run began.
    pub tokens_per_second: f64,
    /// How long the remaining steps will take if they take as long as those of this run.
    pub time_left: Duration,
}

/// Why a training could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The loss is a NaN or infinite. The model is as it was before the step.
    #[error("the loss is {loss} at step {step}")]
    Loss {
        /// The step, the first being 0.
        step: usize,
        /// The loss.
        loss: f64,
    },
    /// The gradients are not finite. The model is as it was before the step.
    #[error("the norm of the gradients is {norm} at step {step}")]
    Gradient {
        /// The step, the first being 0.
        step: usize,
        /// Their global norm.
        norm: f64,
    },
    /// The device failed.
    #[error(transparent)]
    Op(OpError),
    /// The step is made, but its checkpoint could not be written; the one before it is whole.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The step is made, but its metrics could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Metrics {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl<O, S> Trainer<O, S> {
    /// A training of `steps` steps, none of which is made.
    pub fn new(optimizer: O, schedule: S, steps: usize, seed: u64) -> Self {
        Self {
            optimizer,
            schedule,
            clip_norm: f64::INFINITY,
            metrics: None,
            stop: Arc::default(),
            settings: Vec::new(),
            checkpoint: None,
            steps,
            seed,
            progress: Progress { step: 0, best_loss: f64::INFINITY },
            stopped: false,
            clock: None,
        }
    }

    /// Adds something else that decides how the training goes, such as the size of a batch: a
    /// checkpoint in which it differs is refused.
    pub fn pin(&mut self, name: &str, value: impl Display) {
        self.settings.push((name.to_string(), value.to_string()));
    }

    /// From now on saves the training at `path` after every `every` steps, after the last one and when
    /// it is stopped; with 0 only when it is stopped.
    ///
    /// What an earlier run has left half written beside `path` is removed, so no other run may be
    /// saving there.
    ///
    /// # Errors
    /// [`SaveError::Write`] if the file cannot be written.
    pub fn checkpoint_every(&mut self, path: impl AsRef<Path>, every: usize) -> Result<(), SaveError> {
        let path = path.as_ref().to_path_buf();
        weights::ensure_writable(&path)?;
        weights::clear_partial(&path).map_err(|source| SaveError::Write { path: path.clone(), source })?;
        self.checkpoint = Some((path, every));
        Ok(())
    }

    /// How many steps are made.
    pub fn step(&self) -> usize {
        self.progress.step
    }

    /// Whether it ended before its last step because [`stop`](Self::stop) was true.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// The lowest loss that [`improves`](Self::record_best) was given; infinite at first.
    pub fn best_loss(&self) -> f64 {
        self.progress.best_loss
    }

    /// Whether this loss is the lowest so far, which is remembered in checkpoints. To be asked before
    /// the update of a step, so that a training that is resumed after it asks the same.
    pub fn record_best(&mut self, loss: f64) -> bool {
        let improves = loss < self.progress.best_loss;
        if improves {
            self.progress.best_loss = loss;
        }
        improves
    }

    /// The next step; `None` after the last one, or if the training was stopped.
    pub fn next_step(&mut self) -> Option<Step> {
        let number = self.progress.step;
        if number >= self.steps || self.stopped {
            return None;
        }
        self.clock.get_or_insert_with(|| Throughput { begun: Instant::now(), steps: 0, tokens: 0 });
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number as u64);
        Some(Step { number, _dropout: DropoutSeed::new(rng.next_u64()), rng })
    }
}

impl<O, S: Schedule> Trainer<O, S> {
    /// The update of a step of `tokens` tokens: clips the gradients, steps the optimizer at the
    /// learning rate of the schedule, writes the metrics, and saves the training if it is time.
    ///
    /// # Errors
    /// [`TrainError::Loss`] and [`TrainError::Gradient`] if the loss or the gradients are not finite,
    /// [`TrainError::Op`] if the device fails: no step is made. [`TrainError::Save`] and
    /// [`TrainError::Metrics`] if a file cannot be written: the step is made.
    pub fn update<Model, E, D>(
        &mut self,
        model: &mut Model,
        gradients: Gradients<E, D>,
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
        let gradient_norm = update(model, gradients, optimizer, learning_rate, self.clip_norm).map_err(
            |error| match error {
                OpError::Gradient { norm } => TrainError::Gradient { step, norm },
                error => TrainError::Op(error),
            },
        )?;
        self.progress.step += 1;

        let (tokens_per_second, time_left) = self.speed(tokens);
        let report = StepReport {
            step: self.progress.step,
            steps: self.steps,
            loss,
            learning_rate,
            gradient_norm,
            tokens_per_second,
            time_left,
        };
        // That a line is lost is no reason to lose the checkpoint.
        let written = self.write_metrics(&report);
        self.stopped = self.stop.load(Ordering::Relaxed);
        if let Some((path, every)) = &self.checkpoint {
            let is_last = report.step == self.steps;
            let is_due = *every > 0 && (is_last || report.step.is_multiple_of(*every));
            if is_due || self.stopped {
                self.save(model, path)?;
            }
        }
        written?;
        Ok(report)
    }

    /// Saves the training: model, optimizer, step, best loss, and all that decides how it goes on.
    ///
    /// As [`weights::save`](crate::weights::save) does, it leaves what is there whole until all is written.
    ///
    /// # Errors
    /// [`SaveError`] if the file cannot be written, or if a number is not finite, with which the
    /// training could not go on.
    pub fn save<Model, E, D>(&self, model: &Model, path: impl AsRef<Path>) -> Result<(), SaveError>
    where
        O: Optimizer<Model, E>,
        Model: Module + TensorCollection<E, D>,
        E: SafetensorsDtype,
        D: Backend<E>,
    {
        let (memory, settings) = (self.optimizer.state(), self.all_settings());
        checkpoint::save(path.as_ref(), model, memory, self.progress, settings)
    }

    /// The model of a training that was saved, which goes on from there in place of this one.
    ///
    /// # Errors
    /// A [`ResumeError`] that names the first difference between the file and this training. The
    /// training is then as it was.
    pub fn resume<Model, E, D>(&mut self, path: impl AsRef<Path>, device: &D) -> Result<Model, ResumeError>
    where
        O: Optimizer<Model, E>,
        Model: Module + TensorCollection<E, D, To<E, D> = Model>,
        E: SafetensorsDtype,
        D: Backend<E>,
    {
        let settings = self.all_settings();
        let memory = self.optimizer.state_mut();
        let (model, progress) = checkpoint::load(path.as_ref(), device, memory, settings)?;
        self.progress = progress;
        Ok(model)
    }

    /// What must be the same for a checkpoint to be one of this training.
    fn all_settings<Model, E>(&self) -> Vec<(String, String)>
    where
        O: Optimizer<Model, E>,
    {
        let mut settings: Vec<(String, String)> = vec![
            ("the optimizer".into(), self.optimizer.settings()),
            ("the schedule".into(), format!("{:?}", self.schedule)),
            ("the norm to clip to".into(), self.clip_norm.to_string()),
            ("the random numbers".into(), format!("ChaCha8 of seed {}", self.seed)),
        ];
        settings.extend_from_slice(&self.settings);
        settings
    }

    fn write_metrics(&mut self, report: &StepReport) -> Result<(), TrainError> {
        let Some(metrics) = &mut self.metrics else {
            return Ok(());
        };
        let numbers = [
            ("loss", report.loss),
            ("learning_rate", report.learning_rate),
            ("gradient_norm", report.gradient_norm),
            ("tokens_per_second", report.tokens_per_second),
        ];
        let written = metrics.write(report.step, &numbers);
        written.map_err(|source| TrainError::Metrics { path: metrics.path().to_path_buf(), source })
    }

    /// Tokens a second and the time left, after a step of as many tokens.
    fn speed(&mut self, tokens: usize) -> (f64, Duration) {
        let Some(clock) = &mut self.clock else {
            return (0.0, Duration::MAX);
        };
        clock.steps += 1;
        clock.tokens += tokens;
        let seconds = clock.begun.elapsed().as_secs_f64();
        let left = self.steps.saturating_sub(self.progress.step) as f64 / clock.steps as f64;
        let time_left = Duration::try_from_secs_f64(left * seconds).unwrap_or(Duration::MAX);
        (clock.tokens as f64 / seconds, time_left)
    }
}
