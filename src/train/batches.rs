use crate::ops::OpError;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

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
