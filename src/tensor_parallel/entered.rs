use crate::backend::Tape;
use crate::dims::{DataDim, Dim};
use crate::internal::Internal;
use crate::ops::collective::{entered, sum_of_terms};
use crate::ops::{OpError, Real};
use crate::ranks::{Entered, Partial, RankAxis, Ranks};
use dfdx::tensor::{Storage, Tensor};
use dfdx::{shapes::Shape, tensor_ops::Device};

/// The identity, before an operation with the shards of the ranks (`f` of
/// [*Megatron-LM*](https://arxiv.org/abs/1909.08053), section 3, and its `copy_to_tensor_model_parallel_region`). The
/// backward pass sums the gradient over the ranks.
///
/// `(..) -> Entered<(..)>`
///
/// # Errors
/// [`OpError::Ranks`] if a collective operation failed in the backward pass before.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{Entered, enter}};
/// ranks! { pub Tp = 2; }
/// dims! { pub Batch = 1; pub SeqLen = 1; pub EmbedDim = 2; }
/// Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0]);
///     let entered: Entered<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> = enter(x, ranks).unwrap();
/// });
/// ```
pub fn enter<Dims: CanEnter, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    input: Tensor<Dims, E, D, T>,
    ranks: &Ranks<Axis>,
) -> Result<Entered<Tensor<Dims, E, D, T>, Axis>, OpError> {
    entered(input, ranks)
}

/// The sum of the ranks' terms, the same on all ranks (`g` of [*Megatron-LM*](https://arxiv.org/abs/1909.08053),
/// section 3). The backward pass is the identity: every rank has the gradient of the sum. Another operation with shards
/// takes `enter(sum, &ranks)?`.
///
/// `Partial<(..)> -> (..)`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks}, tensor_parallel::all_reduce};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 2; }
/// let sums = Ranks::<Tp>::in_threads(2, |ranks| {
///     let term: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0, ranks.rank() as f32]);
///     let sum: Tensor<(EmbedDim,), f32, Cpu> = all_reduce(Partial::<_, Tp>::term(term), ranks).unwrap();
///     sum.as_vec()
/// });
/// assert_eq!(sums, [[2.0, 1.0], [2.0, 1.0]]);
/// ```
pub fn all_reduce<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    terms: Partial<Tensor<Dims, E, D, T>, Axis>,
    ranks: &Ranks<Axis>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    sum_of_terms(terms.into_term(), ranks)
}

/// The operand of an operation with shards over `Axis`: an [`Entered`] tensor.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::Ranks, tensor_parallel::{EnteredOver, enter}};
/// ranks! { pub Tp = 2; }
/// dims! { pub Batch = 1; pub EmbedDim = 2; }
/// fn project<X: EnteredOver<Tp, Tensor = Tensor<(Batch, EmbedDim), f32, Cpu>>>(_x: X) {}
/// Ranks::<Tp>::in_threads(2, |ranks| project(enter(Cpu::default().zeros(), ranks).unwrap()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` did not enter the ranks: its gradient would be only this rank's term of a sum",
    label = "all ranks have this tensor, and from here on each computes a part",
    note = "`enter(x, &ranks)` sums the gradient of `x` over the ranks in the backward pass"
)]
pub trait EnteredOver<Axis> {
    /// The tensor.
    type Tensor;

    #[doc(hidden)]
    fn into_tensor(self, _: Internal) -> Self::Tensor;
}

// Both impls are without `do_not_recommend`: an unmet bound here is reported as `EntryOver` or `EnteredAs`.
impl<X: EntryOver<Axis, Of>, Of, Axis> EnteredOver<Axis> for Entered<X, Of> {
    type Tensor = X;

    fn into_tensor(self, _: Internal) -> X {
        self.into_inner()
    }
}
impl<Dims: Shape + EnteredAs<Axis>, E, D: Storage<E>, T, Axis> EnteredOver<Axis> for Tensor<Dims, E, D, T> {
    type Tensor = Self;

    fn into_tensor(self, _: Internal) -> Self {
        self
    }
}

/// A tensor that has entered the ranks of `Of` has entered those of `Axis`: both are the same.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the tensor has entered `{Of}`, but the ranks of `{Axis}` compute here",
    label = "entered `{Of}`, not `{Axis}`",
    note = "`enter(x, &ranks)` with the ranks of `{Axis}` sums the gradient of `x` over them in the backward pass; the axis of an operand that no ranks divide is `()`"
)]
pub trait EntryOver<Axis, Of> {}
#[diagnostic::do_not_recommend]
impl<X, Axis: IsAxis<Of>, Of> EntryOver<Axis, Of> for X {}

/// Implemented only for the impossible axis [`Never`], for the sake of its error message. rustc shows it where a tensor
/// that has not passed [`enter`] stands for an [`Entered`] one.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tensor over `{Self}` did not enter `{Axis}`: its gradient would be this rank's term of a sum",
    label = "from here on each rank of `{Axis}` computes a part",
    note = "`enter(x, &ranks)` sums the gradient of `x` over the ranks in the backward pass"
)]
pub trait EnteredAs<Axis> {}
#[diagnostic::do_not_recommend]
impl<Dims, Axis: IsAxis<Never>> EnteredAs<Axis> for Dims {}

/// `Self` and `Other` are one axis of ranks. This is a bound instead of a repeated type parameter: `Self` is inferred
/// first, so that the error can name the axis.
#[doc(hidden)]
pub trait IsAxis<Other> {}
#[diagnostic::do_not_recommend]
impl<Axis> IsAxis<Axis> for Axis {}
/// No axis of ranks.
#[doc(hidden)]
pub struct Never;

/// A shape that [`enter`] takes: the batch may be sharded, over another axis of ranks, but all other dimensions are
/// whole.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanEnter};
/// ranks! { pub Data; }
/// dims! { pub Batch; pub SeqLen = 3; pub EmbedDim = 8; }
/// fn can_enter<Dims: CanEnter>() {}
/// can_enter::<(Shard<Batch, Data>, SeqLen, EmbedDim)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not whole",
    label = "a dimension of `{Self}` other than the batch is sharded",
    note = "a tensor of shards needs no `enter`: an operation takes it as it is"
)]
pub trait CanEnter: Shape {}

macro_rules! can_enter {
    ($($whole:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<B: DataDim, $($whole: Dim,)*> CanEnter for (B, $($whole,)*) {}
    };
}
#[diagnostic::do_not_recommend]
impl<M: Dim> CanEnter for (M,) {}
can_enter!(M);
can_enter!(S M);
can_enter!(A S M);
can_enter!(A C S M);
can_enter!(A C F S M);
