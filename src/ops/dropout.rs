use super::unnamed::choose;
use super::views::map_lines;
use super::{OpError, Real, device_error, scale};
use crate::backend::{Backend, Tape, dropout_kernel, run_kernel};
use crate::dims::{Dim, without_paths};
use crate::ranks::{RankAxis, Ranks, Shard, is_sharded};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution};
use std::{any::type_name, cell::RefCell, collections::BTreeMap, marker::PhantomData, ops::Range};

/// The 32-bit words of the random stream that one element takes.
const WORDS_PER_DRAW: u128 = 2;

thread_local! {
    /// The seeds of the guards that live on this thread, by the guards' ids; `None` if a guard turns dropout off.
    /// Without a `None`, dropout obeys the newest guard, which has the highest id.
    static ACTIVE_SEEDS: RefCell<BTreeMap<u64, Option<ActiveSeed>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The random numbers of a [`DropoutSeed`] that lives.
struct ActiveSeed {
    rng: ChaCha8Rng,
    /// The rows of the batch that this thread has, if another rank has the others.
    rows: Option<Rows>,
}

/// This rank's range of the batch, and the type name by which a shape's first axis is recognised as the batch.
struct Rows {
    axis: &'static str,
    range: Range<usize>,
}

/// A guard: while it lives, [`dropout`] on this thread draws from a seed, or drops [nothing](Self::none). With a seed a
/// run can be repeated; the state of the device's own random numbers cannot be saved. Of several seeds the newest
/// counts.
///
/// ```
/// use typed_transformer::{ops::{DropoutSeed, dropout}, prelude::*, train::Recording};
/// let x: Tensor<(Const<64>,), f32, Cpu> = Cpu::default().tensor([1.0; 64]);
/// let tape = Recording::<(), f32, Cpu>::default;
/// let dropped = |seed| {
///     let _seed = DropoutSeed::new(seed);
///     dropout(x.clone().put_tape(tape()), 0.5).unwrap().as_vec()
/// };
/// assert_eq!(dropped(1), dropped(1));
/// assert_ne!(dropped(1), dropped(2));
/// ```
#[must_use]
pub struct DropoutSeed {
    id: u64,
    // Not `Send`: the guard belongs to its own thread.
    thread: PhantomData<*const ()>,
}

impl DropoutSeed {
    /// Makes dropout draw from `seed` until the guard is dropped.
    pub fn new(seed: u64) -> Self {
        Self::guard(Some(ActiveSeed { rng: ChaCha8Rng::seed_from_u64(seed), rows: None }))
    }

    /// Turns dropout off until the guard is dropped, whatever other guards live: for gradients of an evaluation, such as
    /// those of the inputs. All ranks that divide a model make this guard.
    ///
    /// ```
    /// use typed_transformer::{ops::{DropoutSeed, dropout}, prelude::*, train::Recording};
    /// let x: Tensor<(Const<64>,), f32, Cpu> = Cpu::default().tensor([1.0; 64]);
    /// let _none = DropoutSeed::none();
    /// assert_eq!(dropout(x.put_tape(Recording::<(), f32, Cpu>::default()), 0.5)?.as_vec(), [1.0; 64]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn none() -> Self {
        Self::guard(None)
    }

    fn guard(seed: Option<ActiveSeed>) -> Self {
        ACTIVE_SEEDS.with_borrow_mut(|seeds| {
            let id = seeds.last_key_value().map_or(0, |(newest, _)| newest + 1);
            seeds.insert(id, seed);
            Self { id, thread: PhantomData }
        })
    }

    /// Whether a guard lives on this thread.
    pub(crate) fn is_set() -> bool {
        ACTIVE_SEEDS.with_borrow(|seeds| !seeds.is_empty())
    }

    /// This rank's rows of a batch. While the guard lives, a tensor with these rows as its first axis loses the elements
    /// that it would lose as a part of the whole batch.
    ///
    /// ```
    /// use typed_transformer::{ops::{DropoutSeed, dropout}, prelude::*, ranks, ranks::Ranks, train::Recording};
    /// ranks! { pub World; }
    /// dims! { pub Batch; pub EmbedDim = 8; }
    /// let dropped = |ranks| {
    ///     let parts = Ranks::<World>::in_threads(ranks, |ranks| {
    ///         let seed = DropoutSeed::new(1);
    ///         let rows = seed.assign_rows(ranks, Batch::new(6));
    ///         let ones = Cpu::default().tensor_from_vec(vec![1.0; rows.size() * EmbedDim::SIZE], (rows, EmbedDim));
    ///         dropout(ones.put_tape(Recording::<(), f32, Cpu>::default()), 0.5).unwrap().as_vec()
    ///     });
    ///     parts.concat()
    /// };
    /// assert_eq!(dropped(2), dropped(1));
    /// ```
    pub fn assign_rows<Batch: Dim, W: RankAxis>(&self, ranks: &Ranks<W>, batch: Batch) -> Shard<Batch, W> {
        let range = ranks.part_of(batch.size(), ranks.rank());
        ACTIVE_SEEDS.with_borrow_mut(|seeds| {
            if let Some(Some(own)) = seeds.get_mut(&self.id) {
                own.rows = Some(Rows { axis: type_name::<Shard<Batch, W>>(), range });
            }
        });
        ranks.shard(batch)
    }
}

impl Drop for DropoutSeed {
    fn drop(&mut self) {
        // The guard may not be the newest: `step = trainer.next_step()` makes the next one before it drops this one.
        ACTIVE_SEEDS.with_borrow_mut(|seeds| seeds.remove(&self.id));
    }
}

/// Sets each element to zero with probability `rate` and scales the others by `1 / (1 - rate)` ([Srivastava et al.,
/// 2014](https://jmlr.org/papers/v15/srivastava14a.html)).
///
/// The tape's type says whether dropout is active: without a tape (`T` is `NoneTape`) it returns its input. In a
/// recorded pass it is active, even in one for gradients of an evaluation, unless a guard of [`DropoutSeed::none`]
/// lives. The random numbers come from a [`DropoutSeed`] or, without one, from the device of the input. In a loop
/// without a [`Trainer`](crate::train::Trainer) make all inputs on one device: a new `Cpu::default()` in each step would
/// drop the same elements each time. Ranks that divide a model need a common seed: without it, each drops other elements
/// of a tensor that all have.
///
/// # Errors
/// [`OpError::DropoutRate`] unless `0 <= rate < 1`; [`OpError::DropoutOfShard`] if this rank has a part of the tensor,
/// such as hidden columns. The rows that [`Step::assign_rows`](crate::train::Step::assign_rows) or
/// [`DropoutSeed::assign_rows`] gives are no such part.
///
/// ```
/// use typed_transformer::{ops::dropout, prelude::*, train::Recording};
/// let x: Tensor<(Const<4>,), f32, Cpu> = Cpu::default().tensor([1.0; 4]);
/// assert_eq!(dropout(x.clone(), 0.5)?.array(), [1.0; 4]);
/// assert!(dropout(x.clone(), 1.0).is_err());
/// let kept: Vec<f32> = dropout(x.put_tape(Recording::<(), f32, Cpu>::default()), 0.5)?.as_vec();
/// assert!(kept.iter().all(|x| [0.0, 2.0].contains(x)));
/// # Ok::<(), OpError>(())
/// ```
pub fn dropout<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rate: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    dropout_by::<Dims, _, _, _, _>(input, rate)
}

/// [`dropout`] that checks the axes `Checked` alone; the others are whole. `Checked` begins with the first axis of the
/// tensor. A part of this axis is accepted if a [`DropoutSeed`] has its rows. A part of another axis is an error.
pub(super) fn dropout_by<Checked, Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rate: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    ensure_is_rate(rate)?;
    if !drops_elements::<E, D, T>(rate) {
        return Ok(input);
    }
    let sizes: Vec<usize> = input.shape().concrete().into();
    let is_kept = kept_elements::<Checked>(rate, &sizes, || input.device().random_u64())?;
    drop_others(input, is_kept, rate)
}

/// Whether dropout of this rate drops anything in a pass with the tape `T`.
pub(crate) fn drops_elements<E: Real, D: Backend<E>, T: Tape<E, D>>(rate: f64) -> bool {
    let is_off = || ACTIVE_SEEDS.with_borrow(|seeds| seeds.values().any(Option::is_none));
    T::OWNS_TAPE && rate > 0.0 && !is_off()
}

pub(super) fn ensure_is_rate(rate: f64) -> Result<(), OpError> {
    if (0.0..1.0).contains(&rate) { Ok(()) } else { Err(OpError::DropoutRate { rate }) }
}

/// Chooses which elements of a tensor over `Dims`, of these sizes, dropout keeps: each with probability `1 - rate`.
/// Without a seed for dropout, `random` gives one.
pub(crate) fn kept_elements<Dims>(
    rate: f64,
    sizes: &[usize],
    random: impl FnOnce() -> u64,
) -> Result<Vec<bool>, OpError> {
    draw(rate, sizes, active_seed().unwrap_or_else(random), type_name::<Dims>())
}

/// The next number of the seed for dropout that is in force; `None` if none is.
fn active_seed() -> Option<u64> {
    ACTIVE_SEEDS.with_borrow_mut(|seeds| Some(seeds.last_entry()?.get_mut().as_mut()?.rng.next_u64()))
}

/// [`kept_elements`] of dimensions with this type name, from a seed.
fn draw(rate: f64, sizes: &[usize], seed: u64, dims_type_name: &str) -> Result<Vec<bool>, OpError> {
    let is_dropped = Bernoulli::new(rate).map_err(|_| OpError::DropoutRate { rate })?;
    let numbers = ChaCha8Rng::seed_from_u64(seed);
    let len: usize = sizes.iter().product();
    // The first axis has the seed's rows if the type's name begins so: `(`, `rows.axis`, a comma.
    let placed = ACTIVE_SEEDS.with_borrow(|seeds| {
        let rows = seeds.last_key_value()?.1.as_ref()?.rows.as_ref()?;
        let after_axis = dims_type_name.strip_prefix('(')?.strip_prefix(rows.axis)?;
        after_axis.starts_with(',').then(|| (rows.range.start * (len / sizes[0].max(1)), after_axis))
    });
    let (first_element, others) = placed.unwrap_or((0, dims_type_name));
    if is_sharded(others) {
        return Err(OpError::DropoutOfShard { dims: without_paths(dims_type_name) });
    }
    Ok(map_lines(len, 1, |elements| {
        // Every element has its own numbers in the stream, whatever thread draws them.
        let mut numbers = numbers.clone();
        numbers.set_word_pos(WORDS_PER_DRAW * (first_element + elements.start) as u128);
        is_dropped.sample_iter(numbers).take(elements.len()).map(|is_dropped| !is_dropped).collect()
    }))
}

/// The factor of a kept element.
pub(crate) fn kept_factor(rate: f64) -> f64 {
    1.0 / (1.0 - rate)
}

/// The kept elements times [`kept_factor`]; the others become 0.
pub(crate) fn drop_others<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    is_kept: Vec<bool>,
    rate: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "dropout";
    if D::HAS_KERNELS {
        let (shape, factor) = (*input.shape(), kept_factor(rate) as f32);
        return run_kernel(OP, shape, |tape| dropout_kernel(D::read(input, tape)?, is_kept, factor));
    }
    let (shape, device) = (*input.shape(), input.device().clone());
    let is_kept = device.try_tensor_from_vec(is_kept, shape).map_err(device_error(OP))?;
    let zeros: Tensor<_, E, D> = device.try_zeros_like(&shape).map_err(device_error(OP))?;
    choose(OP, is_kept, scale(input, kept_factor(rate))?, zeros)
}
