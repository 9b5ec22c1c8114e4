//! Terms of sums over the ranks, what can be summed, and the sums.

use super::{RankAxis, Ranks, RanksError, Replicated};
use crate::backend::elements_of;
use crate::internal::Internal;
use crate::real::Real;
use bytemuck::Pod;
use dfdx::shapes::{HasShape, Shape};
use dfdx::{tensor::Tensor, tensor_ops::Device};
use num_traits::NumCast;
use safetensors::Dtype;
use std::{fmt, marker::PhantomData, ops::Add};

/// This rank's term of a value: the sum of the terms of the ranks of `Axis` is the value.
///
/// Only a reduction opens it: a term is not the value, and a function of it that is not linear would be wrong.
///
/// ```
/// use typed_transformer::{ranks, ranks::{Partial, Ranks, RanksError, Replicated}};
/// ranks! { pub World; }
/// let sums = Ranks::<World>::in_threads(2, |ranks| -> Result<f64, RanksError> {
///     let count: Partial<f64, World> = Partial::term(1.0 + ranks.rank() as f64);
///     let sum: Replicated<f64, World> = count.all_reduce(ranks)?;
///     Ok(*sum)
/// });
/// assert_eq!(sums, [Ok(3.0), Ok(3.0)]);
/// ```
#[must_use = "it is this rank's part of a sum over the ranks: `all_reduce` makes the sum"]
pub struct Partial<X, Axis> {
    term: X,
    axis: PhantomData<fn() -> Axis>,
}

impl<X, Axis> Partial<X, Axis> {
    /// Says that the sum of the ranks' terms is a value.
    pub fn term(term: X) -> Self {
        Self { term, axis: PhantomData }
    }

    /// The term, for a function that is linear in it.
    pub(crate) fn into_term(self) -> X {
        self.term
    }

    /// The term, for a function that is linear in it.
    pub(crate) fn as_term(&self) -> &X {
        &self.term
    }
}

/// The sum of two values, such as the losses of two parts of a batch.
impl<Axis> Add for Partial<f64, Axis> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::term(self.term + other.term)
    }
}

impl<X: Reduce, Axis: RankAxis> Partial<X, Axis> {
    /// Sums the terms of all ranks. Every rank gets the same bits.
    ///
    /// # Errors
    /// [`RanksError::Transport`]; [`RanksError::Device`]. All ranks must give equally many values; with MPI this is not
    /// checked.
    pub fn all_reduce(self, ranks: &Ranks<Axis>) -> Result<Replicated<X, Axis>, RanksError> {
        self.term.sum_over_ranks(ranks).map(Replicated::assume)
    }
}

crate::error::debug_as!(
    [X, Axis: RankAxis] Partial<X, Axis>,
    |_, f| write!(f, "this rank's term of a sum over `{}`", Axis::NAME)
);

// This `impl` is never called. It exists for its error message: to print a term in place of the sum is a mistake.
impl<X: SumOver<Axis>, Axis> fmt::Display for Partial<X, Axis> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// A value that the ranks can sum.
///
/// ```
/// use typed_transformer::{ranks, ranks::{Partial, Ranks, RanksError, Reduce}};
/// ranks! { pub World; }
/// fn sum<X: Reduce>(term: X, ranks: &Ranks<World>) -> Result<X, RanksError> {
///     Ok(Partial::term(term).all_reduce(ranks)?.into_inner())
/// }
/// let sums = Ranks::<World>::in_threads(2, |ranks| sum(vec![1.0, ranks.rank() as f64], ranks));
/// assert_eq!(sums[1], Ok(vec![2.0, 1.0]));
/// ```
#[diagnostic::on_unimplemented(
    message = "the ranks cannot sum this value",
    label = "there is no sum of `{Self}`",
    note = "an `f32`, an `f64`, a vector of them, a tensor without a tape, an `Evaluation` and the gradients of a model can be reduced; a count is an `f64`"
)]
pub trait Reduce: Sized {
    /// The sum of the values of all ranks, in their order.
    #[doc(hidden)]
    fn sum_over_ranks<Axis: RankAxis>(self, ranks: &Ranks<Axis>) -> Result<Self, RanksError>;
}

#[diagnostic::do_not_recommend]
impl<E: Element> Reduce for E {
    fn sum_over_ranks<Axis: RankAxis>(self, ranks: &Ranks<Axis>) -> Result<Self, RanksError> {
        let mut sum = [self];
        ranks.all_reduce(&mut sum)?;
        Ok(sum[0])
    }
}

#[diagnostic::do_not_recommend]
impl<E: Element> Reduce for Vec<E> {
    fn sum_over_ranks<Axis: RankAxis>(self, ranks: &Ranks<Axis>) -> Result<Self, RanksError> {
        ranks.start_all_reduce(self).wait()
    }
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Element, D: Device<E>> Reduce for Tensor<Dims, E, D> {
    fn sum_over_ranks<Axis: RankAxis>(self, ranks: &Ranks<Axis>) -> Result<Self, RanksError> {
        let sums = ranks.start_all_reduce(elements_of(&self)).wait()?;
        self.device().try_tensor_from_vec(sums, *self.shape()).map_err(RanksError::device("all-reduce"))
    }
}

/// A value that is summed over the ranks of `Axis`: [`Replicated`], and not [`Partial`].
///
/// ```
/// use typed_transformer::{ranks, ranks::{Partial, Ranks, ReducedOver}};
/// ranks! { pub World; }
/// fn show(_sum: impl ReducedOver<f64, World>) {}
/// Ranks::<World>::in_threads(2, |ranks| show(Partial::<f64, World>::term(1.0).all_reduce(ranks).unwrap()));
/// ```
#[diagnostic::on_unimplemented(
    message = "the value is not the sum over `{Axis}` that is needed here",
    label = "`{Self}` is not `Replicated<{X}, {Axis}>`",
    note = "`all_reduce` of a `Partial` makes the sum of the ranks' terms"
)]
pub trait ReducedOver<X, Axis> {
    #[doc(hidden)]
    fn into_sum(self, _: Internal) -> X;
}

#[diagnostic::do_not_recommend]
impl<X, Axis> ReducedOver<X, Axis> for Replicated<X, Axis> {
    fn into_sum(self, _: Internal) -> X {
        self.into_inner()
    }
}
// Not hidden from rustc's notes, so that an error shows the message of `SumOver`.
impl<X: SumOver<Of>, Of, Axis> ReducedOver<X, Axis> for Partial<X, Of> {
    fn into_sum(self, _: Internal) -> X {
        self.into_term()
    }
}

/// No type implements this trait. It exists for its error message, which rustc shows where a term of a sum over `Axis`
/// stands for the sum.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this is the rank's term of a sum over `{Axis}`: reduce it before it is used",
    label = "a term of a sum over `{Axis}`, not the sum",
    note = "`all_reduce` over the ranks of `{Axis}` makes the sum"
)]
pub trait SumOver<Axis> {}

/// No type implements this trait. It exists for its error message, which rustc shows where a value is summed over
/// `Axis` a second time.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this is already summed over `{Axis}`: a second sum would be too large by the number of ranks",
    label = "the sum over `{Axis}`, not a term of it",
    note = "`all_reduce` takes a `Partial`, and makes a `Replicated` of it"
)]
pub trait TermOver<Axis> {}

impl<X: Reduce, Axis: RankAxis> Replicated<X, Axis> {
    /// Exists for its error message: `X` is already summed, so no type fulfils the bound.
    #[doc(hidden)]
    pub fn all_reduce(self, _: &Ranks<Axis>) -> Result<Self, RanksError>
    where
        X: TermOver<Axis>,
    {
        Ok(self)
    }
}

/// An element that is written to files, and that ranks send to each other and sum: `f32` or `f64`.
///
/// ```
/// use typed_transformer::{ranks, ranks::{Element, Partial, Ranks, RanksError}};
/// ranks! { pub World; }
/// fn total<E: Element>(term: E, ranks: &Ranks<World>) -> Result<E, RanksError> {
///     Ok(*Partial::<E, World>::term(term).all_reduce(ranks)?)
/// }
/// assert_eq!(Ranks::<World>::in_threads(2, |ranks| total(1.5f32, ranks)), [Ok(3.0), Ok(3.0)]);
/// assert_eq!(f32::to_bytes(&[1.0, -2.0]), [0, 0, 128, 63, 0, 0, 0, 192]);
/// ```
pub trait Element: Real + Pod {
    /// The dtype in safetensors.
    const DTYPE: Dtype;

    /// The bytes of the elements in a file, each in little-endian order.
    fn to_bytes(elements: &[Self]) -> Vec<u8> {
        let mut bytes = bytemuck::cast_slice(elements).to_vec();
        swap_if_big_endian::<Self>(&mut bytes);
        bytes
    }
}
impl Element for f32 {
    const DTYPE: Dtype = Dtype::F32;
}
impl Element for f64 {
    const DTYPE: Dtype = Dtype::F64;
}

/// Changes elements between the byte order of the machine and that of a file.
pub(crate) fn swap_if_big_endian<E>(bytes: &mut [u8]) {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(size_of::<E>()).for_each(<[u8]>::reverse);
    }
}

/// A collective operation on any dtype, from its forms for `f32` and `f64`. Shorter elements travel as `f32`.
pub(crate) fn in_f32_or_f64<E: Real>(
    elements: Vec<E>,
    singles: impl FnOnce(Vec<f32>) -> Result<Vec<f32>, RanksError>,
    doubles: impl FnOnce(Vec<f64>) -> Result<Vec<f64>, RanksError>,
) -> Result<Vec<E>, RanksError> {
    fn convert<From: Real, To: Real>(elements: Vec<From>) -> Vec<To> {
        elements.into_iter().map(|element| NumCast::from(element).unwrap_or_else(To::nan)).collect()
    }
    match size_of::<E>() == size_of::<f64>() {
        true => doubles(convert(elements)).map(convert),
        false => singles(convert(elements)).map(convert),
    }
}
