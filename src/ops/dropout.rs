use super::{OpError, Real, cast, unnamed::try_map};
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Tape, Tensor},
    tensor_ops::{Device, TryMul},
};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution};
use std::{cell::RefCell, marker::PhantomData, ops::Range};
use typed_transformer_macros::panicking;

/// The number of words of the generator that one decision takes.
const WORDS_PER_DRAW: u128 = 2;

thread_local! {
    /// The random numbers of dropout on this thread, if they are not the device's.
    static DROPOUT_RNG: RefCell<Option<ChaCha8Rng>> = const { RefCell::new(None) };
    /// The rows of the batch that this thread has, if another rank has the others.
    static ROWS: RefCell<Option<Range<usize>>> = const { RefCell::new(None) };
}

/// A guard: while it lives, [`dropout`] on this thread draws from a seed, so that a run can be repeated. The state of
/// the device's own random numbers cannot be saved.
///
/// ```
/// use typed_transformer::{ops::{DropoutSeed, dropout}, prelude::*};
/// let x: Tensor<(Const<64>,), f32, Cpu> = Cpu::default().tensor([1.0; 64]);
/// let dropped = |seed| {
///     let _seed = DropoutSeed::new(seed);
///     dropout(x.leaky_trace(), 0.5).as_vec()
/// };
/// assert_eq!(dropped(1), dropped(1));
/// assert_ne!(dropped(1), dropped(2));
/// ```
#[must_use]
pub struct DropoutSeed {
    previous: Option<ChaCha8Rng>,
    previous_rows: Option<Range<usize>>,
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
    /// whole batch. It applies to tensors whose first axis has as many elements as there are rows.
    pub(crate) fn set_rows(&self, rows: Range<usize>) {
        ROWS.set(Some(rows));
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
/// [`OpError::DropoutRate`] unless `0 <= rate < 1`; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::dropout, prelude::*};
/// let x: Tensor<(Const<4>,), f32, Cpu> = Cpu::default().tensor([1.0; 4]);
/// assert_eq!(dropout(x.clone(), 0.5).array(), [1.0; 4]);
/// let kept: Vec<f32> = dropout(x.leaky_traced(), 0.5).as_vec();
/// assert!(kept.iter().all(|x| [0.0, 2.0].contains(x)));
/// ```
///
/// ```
/// use typed_transformer::{ops::try_dropout, prelude::*};
/// let x: Tensor<(Const<4>,), f32, Cpu> = Cpu::default().zeros();
/// assert!(try_dropout(x.clone(), 0.0).is_ok());
/// assert!(try_dropout(x, 1.0).is_err());
/// ```
#[panicking]
pub fn try_dropout<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rate: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    ensure_is_rate(rate)?;
    if !T::OWNS_TAPE || rate == 0.0 {
        return Ok(input);
    }
    let sizes: Vec<usize> = input.shape().concrete().into();
    let factors = dropout_factors(rate, &sizes, input.device())?;
    try_mul_factors(input, factors)
}

fn ensure_is_rate(rate: f64) -> Result<(), OpError> {
    if (0.0..1.0).contains(&rate) { Ok(()) } else { Err(OpError::DropoutRate { rate }) }
}

/// The random factors of a tensor of these sizes: 0 with probability `rate`, otherwise `1 / (1 - rate)`.
pub(crate) fn dropout_factors<E: Real, D: Device<E>>(
    rate: f64,
    sizes: &[usize],
    device: &D,
) -> Result<Vec<E>, OpError> {
    let is_dropped = Bernoulli::new(rate).map_err(|_| OpError::DropoutRate { rate })?;
    let seed = DROPOUT_RNG.with_borrow_mut(|numbers| numbers.as_mut().map(ChaCha8Rng::next_u64));
    let mut numbers = ChaCha8Rng::seed_from_u64(seed.unwrap_or_else(|| device.random_u64()));
    let len: usize = sizes.iter().product();
    ROWS.with_borrow(|rows| {
        if let Some(rows) = rows.as_ref().filter(|rows| sizes.first() == Some(&rows.len())) {
            let skipped = rows.start * (len / rows.len().max(1));
            numbers.set_word_pos(WORDS_PER_DRAW * skipped as u128);
        }
    });
    let kept = cast::<E>(1.0 / (1.0 - rate));
    let factors = is_dropped.sample_iter(numbers).take(len);
    Ok(factors.map(|is_dropped| if is_dropped { E::zero() } else { kept }).collect())
}

/// Multiplies each element with its factor.
pub(crate) fn try_mul_factors<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    factors: Vec<E>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    try_map("dropout", input, |x| {
        let factors = x.device().try_tensor_from_vec(factors, *x.shape())?;
        x.try_mul(factors.retaped::<T>())
    })
}
