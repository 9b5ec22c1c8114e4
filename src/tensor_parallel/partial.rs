//! Operations that are linear in the terms of a sum.

use crate::backend::{Arithmetic, Backend, Tape};
use crate::internal::Internal;
use crate::ops::{self, OpError, Real};
use crate::ranks::Partial;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Storage, Tensor};

/// A [`Partial`] over `Dims`: the ranks of `Axis` have its terms.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the operand is not a `Partial` of a tensor over `{Dims}`, with its terms on the ranks of `{Axis}`",
    label = "`{Self}` is not a `Partial` over `{Dims}` and `{Axis}`",
    note = "terms of sums over the same ranks are added; all have one dtype and one device"
)]
pub trait TermsOver<Dims: Shape, E, D: Storage<E>, T, Axis> {
    #[doc(hidden)]
    fn into_terms(self, _: Internal) -> Tensor<Dims, E, D, T>;
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E, D: Storage<E>, T, Axis> TermsOver<Dims, E, D, T, Axis> for Partial<Tensor<Dims, E, D, T>, Axis> {
    fn into_terms(self, _: Internal) -> Tensor<Dims, E, D, T> {
        self.into_term()
    }
}
// Without `do_not_recommend`: an unmet bound here is reported as `IsTermOver`.
impl<Dims: Shape + IsTermOver<Axis>, E, D: Storage<E>, T, Axis> TermsOver<Dims, E, D, T, Axis>
    for Tensor<Dims, E, D, T>
{
    fn into_terms(self, _: Internal) -> Tensor<Dims, E, D, T> {
        self
    }
}

/// No type implements this trait. It exists for its error message, which rustc shows where a value that all ranks of
/// `Axis` have is added to a term.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tensor over `{Self}` is the same on all ranks of `{Axis}`: the sum would have it once for each rank",
    label = "the whole value, not this rank's term of a sum over `{Axis}`",
    note = "add it after `all_reduce(terms, &ranks)`, which makes the sum"
)]
pub trait IsTermOver<Axis> {}

/// The sum of two sums over the ranks, term by term.
///
/// `Partial<(..)>, Partial<(..)> -> Partial<(..)>`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks}, tensor_parallel::{add, all_reduce}};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 1; }
/// let sums = Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0]);
///     all_reduce(add(Partial::<_, Tp>::term(x.clone()), Partial::term(x)).unwrap(), ranks).unwrap().as_vec()
/// });
/// assert_eq!(sums, [[4.0], [4.0]]);
/// ```
pub fn add<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>, Axis>(
    left: Partial<Tensor<Dims, E, D, T>, Axis>,
    right: impl TermsOver<Dims, E, D, T, Axis>,
) -> Result<Partial<Tensor<Dims, E, D, T>, Axis>, OpError> {
    let (left, right) = (left.into_term(), right.into_terms(Internal(())));
    if left.shape() != right.shape() {
        let [from, to] = [&left, &right].map(|term| format!("{:?}", term.shape()));
        return Err(OpError::Shape { op: "add", from, to });
    }
    ops::elementwise("add", Arithmetic::Add, left, right).map(Partial::term)
}

/// A sum over the ranks times a number, term by term.
///
/// `Partial<(..)> -> Partial<(..)>`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks}, tensor_parallel::{all_reduce, scale}};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 1; }
/// let sums = Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0]);
///     all_reduce(scale(Partial::<_, Tp>::term(x), 3.0).unwrap(), ranks).unwrap().as_vec()
/// });
/// assert_eq!(sums, [[6.0], [6.0]]);
/// ```
pub fn scale<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>, Axis>(
    terms: Partial<Tensor<Dims, E, D, T>, Axis>,
    factor: f64,
) -> Result<Partial<Tensor<Dims, E, D, T>, Axis>, OpError> {
    ops::scale(terms.into_term(), factor).map(Partial::term)
}
