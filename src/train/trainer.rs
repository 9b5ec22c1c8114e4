mod due_checkpoints;
mod losses;
mod replicated;
mod save_and_resume;

use super::checkpoint::{CheckpointFiles, LastCheckpoint, Progress};
use super::training_loop::Throughput;
use super::{
    Backpropagate, GradientsOf, Metrics, Optimizer, Recording, ResumeNote, Schedule, Step, StepReport, TrainError,
    update,
};
use crate::nn::{ModelOrRef, Module, OwnsParameters};
use crate::{backend::Backend, ops::OpError, ranks::Element};
use dfdx::{nn::TensorCollection, tensor::Tensor};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt::Display, sync::Arc, time::Duration};

/// The state of a training run besides its model: optimizer, schedule, steps made, seed, best loss. A checkpoint
/// holds it together with the model. The total number of steps is not stored.
///
/// The caller writes the forward pass and the loss of a step:
///
/// ```
/// use rand::Rng; // of rand 0.8
/// use typed_transformer::{nn::Linear, ops::full, prelude::*, train::{AdamW, Trainer}};
/// dims! { pub InDim = 3; pub VocabSize = 5; pub SeqLen = 1; pub Batch = 2; }
///
/// let device = Cpu::seed_from_u64(0);
/// let mut model = Linear::<InDim, VocabSize, f32, Cpu>::build(&device);
/// let mut trainer = Trainer::new(AdamW::default(), 1e-3, 100, 0);
/// trainer.clip_norm = 1.0;
/// while let Some(mut step) = trainer.next_step() {
///     let ids = [0; 2].map(|_| step.rng.gen_range(0..5));
///     let labels = LabelIds::from_ids(&ids, None, (Batch, SeqLen))?;
///     let input: Tensor<(Batch, SeqLen, InDim), f32, Cpu> = full(&device, (Batch, SeqLen, InDim), 1.0)?;
///
///     let logits = model.forward(input.put_tape(model.recording()))?;
///     let loss = cross_entropy(logits, &labels, Reduction::MeanAll)?;
///     trainer.learn(&mut model, loss, ids.len())?;
/// }
/// assert_eq!(trainer.steps_made(), 100);
/// trainer.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Random numbers
///
/// All random numbers of a step depend only on the trainer's seed and the number of the step:
/// those of [`Step::rng`], from which the caller draws the batch and the noise that a model reads, and those of dropout
/// while the [`Step`] lives. No generator state has to be stored. The random numbers of the device are not among them.
///
/// # Files
///
/// A file that cannot be written does not end the training, and costs no other file: [`failures`](Self::failures) lists
/// it, and [`finish`](Self::finish) returns it. A checkpoint that its disk refuses is saved in the folder of temporary
/// files. [What is promised](crate::guide::reliability) has a page of its own.
///
/// # Resuming
///
/// Resuming is bit-exact if the numbers of threads and of ranks are the same: [`resume`](Self::resume) continues as if
/// the training had never stopped. Another number of either changes the order of some sums, and with it
/// the last bits; [`resume_notes`](Self::resume_notes) says so. Three more conditions:
///
/// - The batches, and noise such as that of a diffusion model, come from [`Step::rng`] and [`Step::number`] alone.
/// - The program, the device and the kind of processor are the same.
/// - The settings are the same. The trainer compares those that it knows: the type of the model and its
///   conventions, the hyperparameters of the optimizer, the schedule, the clip norm, the seed, and
///   the values given to [`require_same`](Self::require_same). It cannot compare functions, such as
///   [`AdamW::weight_decay_filter`](super::AdamW::weight_decay_filter).
///
/// Two models that are trained in turn, such as a generator and a critic, are fields of one module and have one trainer,
/// as [`GroupRates`](super::GroupRates) shows. Two trainers would save one after the other, and a stop between the two
/// saves would leave checkpoints of different steps.
#[derive(Debug)]
pub struct Trainer<O, S> {
    /// Computes new parameters from gradients.
    pub optimizer: O,
    /// The learning rate of each step.
    pub schedule: S,
    /// The maximum global norm of the gradients, above 0; initially infinite.
    pub clip_norm: f64,
    /// The file to which each step writes a line, if any. `None` after it could not be written.
    pub metrics: Option<Metrics>,
    /// The number of checkpoints kept besides the best, from 1 to 100; initially 2.
    pub max_to_keep: usize,
    /// Whether checkpoints may replace other files, or those of another training run; initially false.
    pub overwrite: bool,
    /// Whether a training run may be resumed with another schedule, for example with lower rates; initially false.
    pub allow_other_schedule: bool,
    /// Whether the loss may rise far above that of the first step, as a generator's or a policy's does; initially
    /// false. Once true, no later loss counts as divergence, also after a resume. On several ranks, set it on all.
    pub loss_may_rise: bool,
    /// Set it to true, as a Ctrl-C handler does, to end the training after the current step, with a checkpoint unless
    /// it has diverged.
    pub stop: Arc<AtomicBool>,
    required: Vec<(String, String)>,
    checkpoints: Option<CheckpointFiles>,
    last_checkpoint: Option<LastCheckpoint>,
    resume_notes: Vec<ResumeNote>,
    failures: Vec<TrainError>,
    steps: usize,
    seed: u64,
    /// The number of ranks that train together.
    ranks: usize,
    /// The number of ranks before the last resume.
    ranks_before: usize,
    progress: Progress,
    is_space_checked: bool,
    /// Whether the settings of the ranks and the steps that they have made were compared.
    is_compared: bool,
    stopped: bool,
    throughput: Option<Throughput>,
}

impl<O, S: Schedule> Trainer<O, S> {
    /// A training run of `steps` steps, before its first step.
    pub fn new(optimizer: O, schedule: S, steps: usize, seed: u64) -> Self {
        Self {
            optimizer,
            schedule,
            clip_norm: f64::INFINITY,
            metrics: None,
            max_to_keep: 2,
            overwrite: false,
            allow_other_schedule: false,
            loss_may_rise: false,
            stop: Arc::default(),
            required: Vec::new(),
            checkpoints: None,
            last_checkpoint: None,
            resume_notes: Vec::new(),
            failures: Vec::new(),
            steps,
            seed,
            ranks: 1,
            ranks_before: 1,
            progress: Progress::START,
            is_space_checked: false,
            is_compared: false,
            stopped: false,
            throughput: None,
        }
    }
}

impl<O, S> Trainer<O, S> {
    /// Adds a setting that determines the result, such as the batch size. [`resume`](Self::resume)
    /// refuses a checkpoint in which its value differs, or one of its values if it is added several times.
    pub fn require_same(&mut self, name: &str, value: impl Display) {
        self.required.push((name.to_string(), value.to_string()));
    }

    /// The number of steps made so far.
    pub fn steps_made(&self) -> usize {
        self.progress.steps_made
    }

    /// Whether the training ended before its last step because [`stop`](Self::stop) was true.
    pub fn stopped(&self) -> bool {
        self.stopped && !self.is_finished()
    }

    /// Whether all steps are made, here or before a resume.
    pub fn is_finished(&self) -> bool {
        self.progress.steps_made >= self.steps
    }

    /// The next step; `None` after the last one, or if the training was stopped. A `stop` that is set between two steps
    /// takes effect:
    ///
    /// - at once, but never before the first step of a trainer;
    /// - with several ranks, after one more step;
    /// - with checkpoints, after one more step, which is saved.
    ///
    /// A step that neither [`update`](Self::update) nor [`learn`](Self::learn) has made comes again, with the same number
    /// and random numbers. So a loop that skips a batch takes another one in the same step, or makes the step by
    /// gradients that change nothing, `GradientsOf::zeros(&model).allow_unused(&model)`.
    pub fn next_step(&mut self) -> Option<Step> {
        let number = self.progress.steps_made;
        // The ranks decide together, in `update_replicated`. Before the first step the trainer does not know whether
        // there are several.
        if self.checkpoints.is_none() && self.ranks == 1 && self.throughput.is_some() {
            self.stopped |= self.stop.load(Ordering::Relaxed);
        }
        if self.is_finished() || self.stopped {
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
    /// The step is not made after these errors: [`TrainError::Finished`] if all steps are; [`TrainError::Loss`] and
    /// [`TrainError::Gradient`] if the loss or the gradients are not finite; [`TrainError::Op`] if a hyperparameter is
    /// out of its range, if a parameter that may not be unused has no gradient, if two parameters are clones of one
    /// tensor, if the gradients are those of another model, or if a parameter is divided among ranks; and before the
    /// first step of a run [`TrainError::Save`] if the disk has no room for the checkpoints. [`TrainError::Op`] if a
    /// parameter has other sizes than in the step before, or if the device fails: then a part of the parameters may be
    /// updated.
    pub fn update<Model: OwnsParameters<E, D>, E: Element, D: Backend<E>>(
        &mut self,
        model: &mut impl ModelOrRef<Model>,
        gradients: GradientsOf<Model, E, D>,
        loss: f64,
        tokens: usize,
    ) -> Result<StepReport, TrainError>
    where
        O: Optimizer<Model, E, D>,
    {
        let model = model.borrow_mut();
        if self.is_finished() {
            return Err(TrainError::Finished { steps: self.steps });
        }
        if !loss.is_finite() {
            return Err(TrainError::Loss { step: self.progress.steps_made, loss });
        }
        self.ensure_space::<Model, E, D>()?;
        let report = self.make_step(model, gradients, loss, tokens)?;
        self.stopped = self.stop.load(Ordering::Relaxed);
        self.save_if_due(model);
        Ok(report)
    }

    /// The backward pass of a loss, and the [`update`](Self::update) by its gradients.
    ///
    /// The report and the metrics have this loss. If a batch comes in parts ([`GradientsOf::into_recording`]), it is
    /// that of the last part alone: then call [`update`](Self::update) with the gradients and the sum of all losses.
    ///
    /// # Errors
    /// Those of [`update`](Self::update), and [`TrainError::Op`] if the backward pass fails.
    pub fn learn<Model: OwnsParameters<E, D>, E: Element, D: Backend<E>>(
        &mut self,
        model: &mut impl ModelOrRef<Model>,
        loss: Tensor<(), E, D, Recording<Model, E, D>>,
        tokens: usize,
    ) -> Result<StepReport, TrainError>
    where
        O: Optimizer<Model, E, D>,
    {
        let value = loss.as_vec().first().and_then(E::to_f64).unwrap_or(f64::NAN);
        let gradients = loss.backward().map_err(TrainError::Op)?;
        self.update(model, gradients, value, tokens)
    }

    /// Makes the update of a step and counts it.
    fn make_step<Model: Module + TensorCollection<E, D>, E: Element, D: Backend<E>>(
        &mut self,
        model: &mut Model,
        gradients: GradientsOf<Model, E, D>,
        loss: f64,
        tokens: usize,
    ) -> Result<StepReport, TrainError>
    where
        O: Optimizer<Model, E, D>,
    {
        let step = self.progress.steps_made;
        let learning_rate = self.schedule.learning_rate(step);
        let optimizer = &mut self.optimizer;
        let gradient_norm =
            update(model, gradients, optimizer, learning_rate, self.clip_norm).map_err(|error| match error {
                OpError::Gradient { norm } => TrainError::Gradient { step, norm },
                error => TrainError::Op(error),
            })?;
        self.progress.count_step(loss, self.loss_may_rise);

        let steps_left = self.steps.saturating_sub(self.progress.steps_made);
        let (tokens_per_second, time_left) = match &mut self.throughput {
            Some(throughput) => throughput.count_step(tokens, steps_left),
            None => (0.0, Duration::MAX),
        };
        let report = StepReport {
            steps_made: self.progress.steps_made,
            steps: self.steps,
            loss,
            learning_rate,
            gradient_norm,
            tokens_per_second,
            time_left,
        };
        self.write_metrics(&report);
        Ok(report)
    }
}
