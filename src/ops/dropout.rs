use super::{OpError, Real, cast, unnamed::map};
use crate::backend::{Backend, Tape, dropout_kernel, parallel_map, run_kernel};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::TryMul;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution};
use std::{any::type_name, cell::RefCell, marker::PhantomData, ops::Range};

/// The number of words of the generator that one decision takes.
const WORDS_PER_DRAW: u128 = 2;

thread_local! {
    /// The random numbers of dropout on this thread, if they are not the device's.
    static DROPOUT_RNG: RefCell<Option<ChaCha8Rng>> = const { RefCell::new(None) };
    /// The rows of the batch that this thread has, if another rank has the others.
    static ROWS: RefCell<Option<Rows>> = const { RefCell::new(None) };
}

/// This rank's range of the batch, and the type name by which a shape's first axis is recognised as the batch.
struct Rows {
    axis: &'static str,
    range: Range<usize>,
}

impl Rows {
    /// Whether the shape of this type name begins with the axis of these rows.
    fn are_first_of(&self, shape: &str) -> bool {
        let rest = shape.strip_prefix('(').and_then(|shape| shape.strip_prefix(self.axis));
        rest.is_some_and(|rest| rest.starts_with(','))
    }
}

/// A guard: while it lives, [`dropout`] on this thread draws from a seed, so that a run can be repeated. The state of
/// the device's own random numbers cannot be saved.
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
    previous: Option<ChaCha8Rng>,
    previous_rows: Option<Rows>,
    // Not `Send`: the guard restores the state of its own thread.
    thread: PhantomData<*const ()>,
}

impl DropoutSeed {
    /// Makes dropout draw from `seed` until the guard is dropped.
    pub fn new(seed: u64) -> Self {
        Self {
            previous: DROPOUT_RNG.replace(Some(ChaCha8Rng::seed_from_u64(seed))),
            previous_rows: ROWS.take(),
            thread: PhantomData,
        }
    }

    /// Whether a guard lives on this thread.
    pub(crate) fn is_set() -> bool {
        DROPOUT_RNG.with_borrow(Option::is_some)
    }

    /// Restricts dropout on this thread to these rows of the batch: they get the random numbers that they have in the
    /// whole batch. It applies to tensors whose first axis is `Axis`.
    pub(crate) fn set_rows<Axis>(&self, range: Range<usize>) {
        ROWS.set(Some(Rows { axis: type_name::<Axis>(), range }));
    }
}

impl Drop for DropoutSeed {
    fn drop(&mut self) {
        DROPOUT_RNG.set(self.previous.take());
        ROWS.set(self.previous_rows.take());
    }
}

/// Sets each element to zero with probability `rate` and scales the others by `1 / (1 - rate)` ([Srivastava et al.,
/// 2014](https://jmlr.org/papers/v15/srivastava14a.html)).
///
/// The type says whether it is active: without a tape (`T` is `NoneTape`) it returns its input. The random numbers
/// come from the device or from a [`DropoutSeed`].
///
/// # Errors
/// [`OpError::DropoutRate`] unless `0 <= rate < 1`.
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
    ensure_is_rate(rate)?;
    if !T::OWNS_TAPE || rate == 0.0 {
        return Ok(input);
    }
    let sizes: Vec<usize> = input.shape().concrete().into();
    let is_kept = kept_elements::<Dims>(rate, &sizes, || input.device().random_u64())?;
    drop_others(input, is_kept, rate)
}

pub(super) fn ensure_is_rate(rate: f64) -> Result<(), OpError> {
    if (0.0..1.0).contains(&rate) { Ok(()) } else { Err(OpError::DropoutRate { rate }) }
}

/// The random choice of the elements of a tensor over `Dims`, of these sizes, that dropout keeps, each with probability
/// `1 - rate`. Without a seed for dropout, `random` gives one.
pub(crate) fn kept_elements<Dims>(
    rate: f64,
    sizes: &[usize],
    random: impl FnOnce() -> u64,
) -> Result<Vec<bool>, OpError> {
    let seed = DROPOUT_RNG.with_borrow_mut(|numbers| numbers.as_mut().map(ChaCha8Rng::next_u64));
    draw(rate, sizes, seed.unwrap_or_else(random), type_name::<Dims>())
}

/// [`kept_elements`] of a shape with this type name, from a seed.
fn draw(rate: f64, sizes: &[usize], seed: u64, shape: &str) -> Result<Vec<bool>, OpError> {
    /// The elements that one thread draws at least: drawing fewer takes less time than to start it.
    const MIN_DRAWS_PER_CHUNK: usize = 1 << 14;
    let is_dropped = Bernoulli::new(rate).map_err(|_| OpError::DropoutRate { rate })?;
    let numbers = ChaCha8Rng::seed_from_u64(seed);
    let len: usize = sizes.iter().product();
    let first = ROWS.with_borrow(|rows| {
        let rows = rows.as_ref().filter(|rows| rows.are_first_of(shape));
        rows.map_or(0, |rows| rows.range.start * (len / sizes[0].max(1)))
    });
    let chunk_len = len.div_ceil(rayon::current_num_threads()).max(MIN_DRAWS_PER_CHUNK);
    let chunks = (0..len).step_by(chunk_len).map(|start| start..len.min(start + chunk_len)).collect();
    let kept = parallel_map(chunks, |chunk: Range<usize>| {
        // Every element has its own numbers in the stream, whatever thread draws them.
        let mut numbers = numbers.clone();
        numbers.set_word_pos(WORDS_PER_DRAW * (first + chunk.start) as u128);
        is_dropped.sample_iter(numbers).take(chunk.len()).map(|is_dropped| !is_dropped).collect::<Vec<bool>>()
    });
    Ok(kept.concat())
}

/// The factor of a kept element.
pub(crate) fn kept_factor(rate: f64) -> f64 {
    1.0 / (1.0 - rate)
}

/// Multiplies the kept elements by [`kept_factor`], and the others by 0.
pub(crate) fn drop_others<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    is_kept: Vec<bool>,
    rate: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "dropout";
    if D::HAS_KERNELS {
        let (shape, factor) = (*input.shape(), kept_factor(rate) as f32);
        return run_kernel(OP, shape, T::default(), |tape| Ok(dropout_kernel(D::read(input, tape)?, is_kept, factor)?));
    }
    map(OP, input, |x| {
        let factors: Tensor<_, E, D> = x.device().try_tensor_from_vec(factors(&is_kept, rate), *x.shape())?;
        x.try_mul(factors)
    })
}

/// [`kept_factor`] for a kept element, 0 for another one.
fn factors<E: Real>(is_kept: &[bool], rate: f64) -> Vec<E> {
    let factor: E = cast(kept_factor(rate));
    is_kept.iter().map(|is_kept| if *is_kept { factor } else { E::zero() }).collect()
}
