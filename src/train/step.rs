use crate::dims::Dim;
use crate::ops::DropoutSeed;
use crate::ranks::{RankAxis, Ranks, Shard};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

/// A step of a training run. Keep it alive until the forward pass is done: while it lives, dropout draws from
/// its random numbers.
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
        self.dropout.set_rows::<Shard<Batch, W>>(ranks.part_of(batch.size(), ranks.rank()));
        ranks.shard(batch)
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
