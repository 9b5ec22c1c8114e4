//! The parts of a training loop: the batches of an epoch, a step and its report, an evaluation.

use crate::backend::{Backend, elements_of};
use crate::dims::Dim;
use crate::ops::{DropoutSeed, FitsLogits, Labels, OpError, Real, Reduction, cross_entropy};
use crate::ranks::{RankAxis, Ranks, RanksError, Reduce, Shard};
use dfdx::{shapes::Shape, tensor::Tensor};
use rand::seq::SliceRandom;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

/// The examples of each step of a training on a data set. An epoch has every example once, in an order of its own; its
/// last batch may be smaller.
///
/// A batch depends on the seed and on the number of the step alone, so a resumed training goes on with the batches that
/// it would have had.
///
/// ```
/// use typed_transformer::{prelude::*, train::Batches};
/// // Five examples in batches of two: an epoch has three steps.
/// let mut batches = Batches::new(5, 2, 0)?;
/// assert_eq!(batches.steps_per_epoch(), 3);
/// let mut epoch: Vec<usize> = (0..3).flat_map(|step| batches.of_step(step).to_vec()).collect();
/// epoch.sort();
/// assert_eq!(epoch, [0, 1, 2, 3, 4]);
///
/// let second = batches.of_step(1).to_vec();
/// assert_eq!(Batches::new(5, 2, 0)?.of_step(1), second);
/// assert_eq!(batches.to_string(), "5 examples in batches of 2, in the order of seed 0");
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batches {
    num_examples: usize,
    batch_size: usize,
    seed: u64,
    /// The epoch whose order is known.
    epoch: Option<usize>,
    order: Vec<usize>,
}

impl Batches {
    /// Batches of a data set of `num_examples` examples.
    ///
    /// # Errors
    /// [`OpError::Empty`] if there are no examples, or if a batch has none.
    pub fn new(num_examples: usize, batch_size: usize, seed: u64) -> Result<Self, OpError> {
        if num_examples == 0 || batch_size == 0 {
            let dims = format!("a data set of {num_examples} examples in batches of {batch_size}");
            return Err(OpError::Empty { op: "batches", dims });
        }
        Ok(Self { num_examples, batch_size, seed, epoch: None, order: Vec::new() })
    }

    /// The number of steps in which every example is seen once.
    pub fn steps_per_epoch(&self) -> usize {
        self.num_examples.div_ceil(self.batch_size)
    }

    /// The indices of the examples of a step, the first step being 0.
    pub fn of_step(&mut self, step: usize) -> &[usize] {
        let (epoch, batch) = (step / self.steps_per_epoch(), step % self.steps_per_epoch());
        if self.epoch != Some(epoch) {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(epoch as u64);
            self.order = (0..self.num_examples).collect();
            self.order.shuffle(&mut rng);
            self.epoch = Some(epoch);
        }
        let start = batch * self.batch_size;
        &self.order[start..self.num_examples.min(start + self.batch_size)]
    }
}

/// The text says what decides the batches. [`Trainer::require_same`](super::Trainer::require_same) compares it.
impl Display for Batches {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { num_examples, batch_size, seed, .. } = self;
        write!(f, "{num_examples} examples in batches of {batch_size}, in the order of seed {seed}")
    }
}

/// A step of a training run. Keep it alive until the forward pass is done: while it lives, dropout draws from
/// its random numbers. `while let Some(step) = trainer.next_step()` keeps it; `is_some()` drops it at once, and dropout
/// then draws from the device, so that a resumed training is no longer bit-exact.
///
/// ```
/// use typed_transformer::train::{Sgd, Trainer};
/// let mut trainer = Trainer::new(Sgd::<(), f32>::default(), 0.1, 3, 0);
/// let step = trainer.next_step().unwrap();
/// assert_eq!(step.number, 0);
/// ```
pub struct Step {
    /// The index of the step, the first being 0.
    pub number: usize,
    /// The random numbers of the step. They depend only on the trainer's seed and `number`.
    pub rng: ChaCha8Rng,
    dropout: DropoutSeed,
}

impl Step {
    pub(super) fn new(number: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        Self { number, dropout: DropoutSeed::new(rng.next_u64()), rng }
    }

    /// This rank's rows of a batch. Draw the whole batch from [`rng`](Self::rng) and take the rows. From now on,
    /// dropout drops in these rows what it would drop in the whole batch, so the number of ranks does not change the
    /// result. Dropout knows the rows by their type: they are the tensors whose first axis is `Shard<Batch, W>`.
    ///
    /// ```
    /// use rand::Rng;
    /// use typed_transformer::{prelude::*, ranks, ranks::Ranks, train::{Sgd, Trainer}};
    /// ranks! { pub World; }
    /// dims! { pub Batch; }
    /// let parts = Ranks::<World>::in_threads(2, |ranks| {
    ///     let mut trainer = Trainer::new(Sgd::<(), f32>::default(), 0.1, 1, 0);
    ///     let mut step = trainer.next_step().unwrap();
    ///     let batch: Vec<u8> = (0..5).map(|_| step.rng.r#gen()).collect();
    ///     let rows = step.assign_rows(ranks, Batch::new(5));
    ///     (batch.clone(), rows.range().map(|rows| batch[rows].to_vec()))
    /// });
    /// let parts_of_ranks = [parts[0].1.clone()?, parts[1].1.clone()?];
    /// assert_eq!(parts_of_ranks.concat(), parts[0].0);
    /// # Ok::<(), ranks::RanksError>(())
    /// ```
    pub fn assign_rows<Batch: Dim, W: RankAxis>(&self, ranks: &Ranks<W>, batch: Batch) -> Shard<Batch, W> {
        self.dropout.assign_rows(ranks, batch)
    }
}

/// The result of a step.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{GradientsOf, Sgd, Trainer}};
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let mut trainer = Trainer::new(Sgd::default(), 0.1, 10, 0);
/// let gradients = GradientsOf::zeros(&model).allow_unused(&model);
/// let report = trainer.update(&mut model, gradients, 3.3, 4)?;
/// assert_eq!((report.steps_made, report.steps, report.learning_rate), (1, 10, 0.1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Steps made so far, this one included.
    pub steps_made: usize,
    /// Steps of the whole training run.
    pub steps: usize,
    /// The loss before the update.
    pub loss: f64,
    /// The learning rate of the update.
    pub learning_rate: f64,
    /// The global norm of the gradients before clipping.
    pub gradient_norm: f64,
    /// Tokens per second, on average since this run began.
    pub tokens_per_second: f64,
    /// The expected duration of the remaining steps, at the average speed of this run; [`Duration::MAX`] if it is not
    /// known, because the steps are not those of [`next_step`](super::Trainer::next_step).
    pub time_left: Duration,
}

/// A line for people: `step 3/100  loss 3.2189  rate 1.00e-3  5120 tokens/s  0:07 left`.
impl Display for StepReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { steps_made, steps, loss, learning_rate, tokens_per_second, time_left, .. } = self;
        let (minutes, seconds) = (time_left.as_secs() / 60, time_left.as_secs() % 60);
        write!(f, "step {steps_made}/{steps}  loss {loss:.4}  rate {learning_rate:.2e}")?;
        match *time_left {
            Duration::MAX => Ok(()),
            _ => write!(f, "  {tokens_per_second:.0} tokens/s  {minutes}:{seconds:02} left"),
        }
    }
}

/// The quality of predictions, over the labels of all batches that were added: each token counts the same, and padding
/// counts nothing.
///
/// ```
/// use typed_transformer::{prelude::*, train::Evaluation};
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let pad: Fin<VocabSize> = Fin::literal::<2>();
/// let mut evaluation = Evaluation::default();
/// for ids in [[0, 1], [1, 2]] {
///     let labels = LabelIds::from_ids(&ids, Some(pad), (Batch, SeqLen))?;
///     // All classes are equally likely, so the first one is predicted.
///     let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = Cpu::default().zeros();
///     evaluation.add(&logits, &labels)?;
/// }
/// assert_eq!(evaluation.tokens(), 3);
/// assert!((evaluation.accuracy() - 1.0 / 3.0).abs() < 1e-12);
/// assert_eq!(evaluation.to_string(), "loss 1.0986  perplexity 3.000  accuracy 33.3 %");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    tokens: usize,
    right: usize,
    loss_sum: f64,
}

impl Evaluation {
    /// Adds the predictions of a batch: `(.., V), (..) indices of V`.
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ.
    pub fn add<Dims: Shape, Positions: Shape, V: Dim, Ids, E: Real, D: Backend<E>>(
        &mut self,
        logits: &Tensor<Dims, E, D>,
        labels: &Ids,
    ) -> Result<(), OpError>
    where
        Ids: ?Sized + Labels<Positions, V> + FitsLogits<Dims, Positions, V>,
    {
        let loss = cross_entropy(logits.clone(), labels, Reduction::Sum)?;
        self.loss_sum += loss.as_vec().iter().filter_map(|loss| loss.to_f64()).sum::<f64>();
        let (ids, padding) = (labels.indices(), labels.padding().map(|padding| padding.value()));
        let num_classes = ids.axis().size().max(1);
        let rows = elements_of(logits);
        for (row, &label) in rows.chunks(num_classes).zip(ids.as_slice()) {
            if Some(label) == padding {
                continue;
            }
            self.tokens += 1;
            // As `argmax` does, the first of equal ones is predicted, and a NaN never is.
            let beats = |(class, x): (usize, &E)| *x > row[label] || class < label && *x == row[label];
            let is_beaten = row.iter().enumerate().any(beats);
            self.right += usize::from(!is_beaten && !row[label].is_nan());
        }
        Ok(())
    }

    /// The number of labels that are not padding.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The mean cross-entropy of a token, in nats; NaN before the first one.
    pub fn loss(&self) -> f64 {
        self.loss_sum / self.tokens as f64
    }

    /// `exp(loss)`: the model is as uncertain as a choice among this number of equally likely tokens.
    pub fn perplexity(&self) -> f64 {
        self.loss().exp()
    }

    /// The share of the tokens whose logit is the highest, from 0 to 1; NaN before the first one.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.tokens as f64
    }
}

impl Display for Evaluation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (loss, perplexity, percent) = (self.loss(), self.perplexity(), 100.0 * self.accuracy());
        write!(f, "loss {loss:.4}  perplexity {perplexity:.3}  accuracy {percent:.1} %")
    }
}

/// The evaluation of the rows of all ranks: that of a rank without rows adds nothing.
#[diagnostic::do_not_recommend]
impl Reduce for Evaluation {
    fn sum_over_ranks<Axis: RankAxis>(self, ranks: &Ranks<Axis>) -> Result<Self, RanksError> {
        let mut sums = [self.tokens as f64, self.right as f64, self.loss_sum];
        ranks.all_reduce(&mut sums)?;
        let [tokens, right, loss_sum] = sums;
        Ok(Self { tokens: tokens as usize, right: right as usize, loss_sum })
    }
}

/// Measures the speed of one process of a training run.
#[derive(Debug)]
pub(super) struct Throughput {
    start: Instant,
    steps: usize,
    tokens: usize,
}

impl Throughput {
    pub fn start() -> Self {
        Self { start: Instant::now(), steps: 0, tokens: 0 }
    }

    /// Counts a step of `tokens` tokens. Returns tokens per second and the expected duration of
    /// `steps_left` more steps.
    pub fn count_step(&mut self, tokens: usize, steps_left: usize) -> (f64, Duration) {
        self.steps += 1;
        self.tokens += tokens;
        let seconds = self.start.elapsed().as_secs_f64();
        let seconds_left = steps_left as f64 / self.steps as f64 * seconds;
        let time_left = Duration::try_from_secs_f64(seconds_left).unwrap_or(Duration::MAX);
        (self.tokens as f64 / seconds, time_left)
    }
}
