use super::{Element, RankAxis, Ranks, RanksError, Replicated, SumOver};
use crate::backend::elements_of;
use dfdx::shapes::{HasShape, Shape};
use dfdx::{tensor::Tensor, tensor_ops::Device};
use std::{fmt, marker::PhantomData};

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

impl<X: Reduce, Axis: RankAxis> Partial<X, Axis> {
    /// Sums the terms of all ranks. Every rank gets the same bits.
    ///
    /// # Errors
    /// [`RanksError::Engine`]; [`RanksError::Device`]. All ranks must give equally many values; with MPI this is not
    /// checked.
    pub fn all_reduce(self, ranks: &Ranks<Axis>) -> Result<Replicated<X, Axis>, RanksError> {
        self.term.sum_over_ranks(ranks).map(Replicated::assume)
    }
}

crate::error::debug_as!(
    [X, Axis: RankAxis] Partial<X, Axis>,
    |_, f| write!(f, "this rank's term of a sum over `{}`", Axis::NAME)
);

// It is never called. It exists for its error message, because printing a term in place of the sum is a mistake.
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
    note = "a number, a vector, a tensor without a tape and the gradients of a model can be reduced"
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
