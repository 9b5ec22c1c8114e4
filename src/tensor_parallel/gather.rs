//! From a dimension to its shards, and back.

use super::EnteredOver;
use crate::backend::Tape;
use crate::dims::{AxisOf, ConstDim, Divides, HasAxis};
use crate::internal::Internal;
use crate::ops::collective::{PartLayout, gathered, run_and_record};
use crate::ops::{OpError, Real};
use crate::ranks::{ConstRankAxis, Entered, Partial, RankAxis, Ranks, Shard};
use dfdx::shapes::{HasShape, Shape};
use dfdx::{tensor::Tensor, tensor_ops::Device};

/// Joins the parts of an axis. The result is the same on all ranks, and so is its gradient: the backward pass gives
/// each rank its part of the gradient (*Megatron-LM*'s `gather_from_tensor_model_parallel_region`).
///
/// `(.., Shard<Name, Axis>, ..) -> (.., Name, ..)`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::all_gather};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 2; }
/// let means = Ranks::<Tp>::in_threads(2, |ranks| {
///     let part: Tensor<(Shard<EmbedDim, Tp>,), f32, Cpu> = Cpu::default().tensor(vec![1.0 + 2.0 * ranks.rank() as f32]);
///     let whole: Tensor<(EmbedDim,), f32, Cpu> = all_gather(part, axis::<EmbedDim>(), ranks).unwrap();
///     mean_over(whole, axis::<EmbedDim>()).unwrap().array()
/// });
/// assert_eq!(means, [2.0, 2.0]);
/// ```
pub fn all_gather<Dims, Name: ConstDim, WhichAxis, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
    ranks: &Ranks<Axis>,
) -> Result<Tensor<Dims::Whole, E, D, T>, OpError>
where
    Dims: CanGather<Name, Axis, WhichAxis>,
{
    let shape = input.shape().whole();
    let parts = PartLayout::new::<_, Axis>(&shape, Dims::INDEX, ranks);
    let forward = |ranks: &Ranks<Axis>, part: Vec<E>| parts.all_gather(ranks, part);
    let backward = move |ranks: &Ranks<Axis>, gradient: Vec<E>| Ok(parts.part(&gradient, ranks.rank()));
    run_and_record("all-gather", ranks, input, shape, forward, backward)
}

/// [`all_gather`], for another operation with shards. The backward pass sums the gradient over the ranks, and each
/// keeps its part.
///
/// `(.., Shard<Name, Axis>, ..) -> Entered<(.., Name, ..)>`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::{Entered, all_gather_entered}};
/// ranks! { pub Tp = 2; }
/// dims! { pub SeqLen = 3; pub EmbedDim = 8; }
/// Ranks::<Tp>::in_threads(2, |ranks| {
///     let part: Tensor<(SeqLen, Shard<EmbedDim, Tp>), f32, Cpu> = Cpu::default().zeros();
///     let whole: Entered<Tensor<(SeqLen, EmbedDim), f32, Cpu>, Tp> = all_gather_entered(part, axis::<EmbedDim>(), ranks).unwrap();
/// });
/// ```
pub fn all_gather_entered<Dims, Name: ConstDim, WhichAxis, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
    ranks: &Ranks<Axis>,
) -> Result<Entered<Tensor<Dims::Whole, E, D, T>, Axis>, OpError>
where
    Dims: CanGather<Name, Axis, WhichAxis>,
{
    let shape = input.shape().whole();
    gathered(input, shape, Dims::INDEX, ranks)
}

/// Sums the terms of the ranks, and each rank keeps its part of an axis. The backward pass joins the parts of the
/// gradient.
///
/// `Partial<(.., Name, ..)> -> (.., Shard<Name, Axis>, ..)`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks, Shard}, tensor_parallel::reduce_scatter};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 2; }
/// let parts = Ranks::<Tp>::in_threads(2, |ranks| {
///     let term: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 5.0]);
///     let part: Tensor<(Shard<EmbedDim, Tp>,), f32, Cpu> =
///         reduce_scatter(Partial::term(term), axis::<EmbedDim>(), ranks).unwrap();
///     part.as_vec()
/// });
/// assert_eq!(parts, [[2.0], [10.0]]);
/// ```
pub fn reduce_scatter<Dims, Name: ConstDim, WhichAxis, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    terms: Partial<Tensor<Dims, E, D, T>, Axis>,
    _: AxisOf<Name>,
    ranks: &Ranks<Axis>,
) -> Result<Tensor<Dims::Shards, E, D, T>, OpError>
where
    Dims: CanShard<Name, Axis, WhichAxis>,
{
    let term = terms.into_term();
    let shape = *term.shape();
    let parts = PartLayout::new::<_, Axis>(&shape, Dims::INDEX, ranks);
    let forward = |ranks: &Ranks<Axis>, term: Vec<E>| parts.reduce_scatter(ranks, &term);
    let backward = move |ranks: &Ranks<Axis>, gradient: Vec<E>| parts.all_gather(ranks, gradient);
    run_and_record("reduce-scatter", ranks, term, shape.shards(), forward, backward)
}

/// Each rank keeps its part of an axis. The backward pass puts zeros in place of the other parts.
///
/// `Entered<(.., Name, ..)> -> (.., Shard<Name, Axis>, ..)`
///
/// # Errors
/// [`OpError::Ranks`] if a collective operation failed in the backward pass before.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::{enter, shard}};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 2; }
/// let parts = Ranks::<Tp>::in_threads(2, |ranks| {
///     let whole: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 5.0]);
///     let part: Tensor<(Shard<EmbedDim, Tp>,), f32, Cpu> = shard(enter(whole, ranks).unwrap(), axis::<EmbedDim>(), ranks).unwrap();
///     part.as_vec()
/// });
/// assert_eq!(parts, [[1.0], [5.0]]);
/// ```
pub fn shard<Dims, Name: ConstDim, WhichAxis, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis, Input>(
    input: Input,
    _: AxisOf<Name>,
    ranks: &Ranks<Axis>,
) -> Result<Tensor<Dims::Shards, E, D, T>, OpError>
where
    Input: EnteredOver<Axis, Tensor = Tensor<Dims, E, D, T>>,
    Dims: CanShard<Name, Axis, WhichAxis>,
{
    let input = input.into_tensor(Internal(()));
    let shape = *input.shape();
    let parts = PartLayout::new::<_, Axis>(&shape, Dims::INDEX, ranks);
    let forward = |ranks: &Ranks<Axis>, whole: Vec<E>| Ok(parts.part(&whole, ranks.rank()));
    let backward = move |ranks: &Ranks<Axis>, gradient: Vec<E>| Ok(parts.padded(&gradient, ranks.rank()));
    run_and_record("shard", ranks, input, shape.shards(), forward, backward)
}

/// The shape has a whole axis of dimension `Name`, which can be divided among the ranks of `Axis`. `WhichAxis` is its
/// position, which rustc infers.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanShard};
/// ranks! { pub Tp = 2; }
/// dims! { pub SeqLen = 3; pub EmbedDim = 8; }
/// fn shards<Dims: CanShard<EmbedDim, Tp, WhichAxis, Shards = (SeqLen, Shard<EmbedDim, Tp>)>, WhichAxis>() {}
/// shards::<(SeqLen, EmbedDim), _>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no whole axis `{Name}` to divide among the ranks of `{Axis}`",
    label = "`{Name}` is not a whole axis of `{Self}`",
    note = "a collective operation names an axis of the tensor whose size is known at compile time"
)]
pub trait CanShard<Name, Axis, WhichAxis>: Shape {
    /// The shape with a rank's part in place of the axis.
    type Shards: Shape;
    /// Position of the axis, counted from 0.
    const INDEX: usize;

    /// The shape with a rank's part in place of the axis.
    fn shards(self) -> Self::Shards;
}

/// The shape has an axis of which each rank of `Axis` has its part of `Name`. `WhichAxis` is its position, which rustc
/// infers.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::Shard, tensor_parallel::CanGather};
/// ranks! { pub Tp = 2; }
/// dims! { pub SeqLen = 3; pub EmbedDim = 8; }
/// fn gathers<Dims: CanGather<EmbedDim, Tp, WhichAxis, Whole = (SeqLen, EmbedDim)>, WhichAxis>() {}
/// gathers::<(SeqLen, Shard<EmbedDim, Tp>), _>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no axis `Shard<{Name}, {Axis}>`",
    label = "no axis of `{Self}` is a shard of `{Name}` over `{Axis}`",
    note = "a gather along `{Name}` joins the parts of `Shard<{Name}, {Axis}>`"
)]
pub trait CanGather<Name, Axis, WhichAxis>: Shape {
    /// The shape with all of `Name` in place of a rank's part.
    type Whole: Shape;
    /// Position of the axis, counted from 0.
    const INDEX: usize;

    /// The shape with all of `Name` in place of a rank's part.
    fn whole(self) -> Self::Whole;
}

/// The ranks of `Self` divide `Name`. Both sizes are known at compile time.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the ranks of `{Self}` are not known to divide `{Name}`",
    label = "the parts of `{Name}` do not have one size that is known at compile time",
    note = "the size of `{Self}` has to be known at compile time, and to divide that of `{Name}` (in generic code, the bounds `{Self}: ConstRankAxis + Divides<{Name}>`); `ops::gather_batch` joins a batch over ranks without a size"
)]
pub trait DividesAxis<Name: ConstDim>: ConstRankAxis + Divides<Name> {}
#[diagnostic::do_not_recommend]
impl<Axis: ConstRankAxis + Divides<Name>, Name: ConstDim> DividesAxis<Name> for Axis {}

// Both are without `do_not_recommend`: an unmet bound of a size is reported as `DividesAxis`.
impl<Dims, Name: ConstDim, Axis: DividesAxis<Name>, WhichAxis> CanShard<Name, Axis, WhichAxis> for Dims
where
    Dims: HasAxis<Name, WhichAxis>,
{
    type Shards = Dims::Replaced<Shard<Name, Axis>>;
    const INDEX: usize = Dims::INDEX;

    fn shards(self) -> Self::Shards {
        self.replace_axis(Shard::default())
    }
}
impl<Dims, Name: ConstDim, Axis: DividesAxis<Name>, WhichAxis> CanGather<Name, Axis, WhichAxis> for Dims
where
    Dims: HasAxis<Shard<Name, Axis>, WhichAxis>,
{
    type Whole = Dims::Replaced<Name>;
    const INDEX: usize = Dims::INDEX;

    fn whole(self) -> Self::Whole {
        self.replace_axis(Name::default())
    }
}
