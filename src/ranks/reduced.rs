use super::{Partial, RankAxis, Ranks, RanksError, Reduce, Replicated};
use crate::internal::Internal;

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
