//! Elements at computed indices: [`embed`], [`gather`] and [`take`].

use super::unnamed::reshape_to;
use super::views::{outer_len_inner, sizes};
use super::{OpError, Real, device_error, dim_error, ensure_not_empty};
use crate::backend::{Backend, Tape, WeightTape, gather_kernel, read_weight, run_kernel, weight_on_tape};
use crate::dims::{AnyDim, AxisOf, ConstDim, DataDim, Dim, HasAxis, check_same_size, for_each_axis};
use crate::tokens::{Indices, TokenIds};
use dfdx::shapes::{Axis, HasShape, Shape};
use dfdx::tensor::{PutTape, SplitTape, Tensor};
use dfdx::tensor_ops::GatherTo;

/// The row of `table` for each token id: `table[ids]`.
///
/// `(V, M), (B, S) ids of V -> (B, S, M)`
///
/// `tape` is `model.recording()` to record the operations for gradients, `T::default()` in the middle of a pass, or
/// `NoneTape`.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 3; pub EmbedDim = 2; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let table: Tensor<(VocabSize, EmbedDim), f32, Cpu> = device.tensor(vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1]);
/// let ids = TokenIds::from_ids(&[2, 0], None, (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = embed(&table, &ids, NoneTape)?;
/// assert_eq!(x.as_vec(), [2.0, 2.1, 0.0, 0.1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn embed<
    B: DataDim,
    S: Dim,
    V: ConstDim,
    M: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
    W: WeightTape<T, E, D>,
>(
    table: &Tensor<(V, M), E, D, W>,
    ids: &TokenIds<B, S, V>,
    tape: T,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    const OP: &str = "embed";
    let ((batch, len), starts) = (ids.shape(), run_starts(1, ids.as_slice(), V::SIZE, M::SIZE));
    let shape = (batch, len, M::default());
    if D::HAS_KERNELS {
        return run_kernel(OP, shape, |tape_of_output| {
            *tape_of_output = tape;
            gather_kernel(read_weight(table, tape_of_output)?, starts, M::SIZE)
        });
    }
    gather_runs_by_dfdx(OP, weight_on_tape(table, tape), starts, M::SIZE, shape)
}

/// The parts of a tensor at indices of the axis `Name`, which may differ along the axes before it:
/// `out[.., k, ..] = input[.., indices[.., k], ..]`.
///
/// `(.., Name, ..), (.., K) indices of Name -> (.., K, ..)`, or `(.., Name, ..), (.., K, ..) indices of Name -> (.., K,
/// ..)` with another index for each element. The indices have all axes before `Name`, and all or none of the axes after
/// it. It is PyTorch's `gather` and NumPy's `take_along_axis`; without the axes after `Name`, it is TensorFlow's
/// `gather` with `batch_dims`. [`take`] uses one list of indices for all other axes.
///
/// ```
/// use typed_transformer::{ops::gather, prelude::*, tokens::Indices};
/// dims! { pub NumExperts = 3; pub ExpertsPerToken = 2; pub SeqLen = 2; }
/// let gates: Tensor<(SeqLen, NumExperts), f32, Cpu> = Cpu::default().tensor(vec![0.1, 0.2, 0.7, 0.5, 0.3, 0.2]);
/// let experts = Indices::new(&[2, 1, 0, 1], (SeqLen, ExpertsPerToken), NumExperts)?;
/// let chosen: Tensor<(SeqLen, ExpertsPerToken), f32, Cpu> = gather(gates, axis::<NumExperts>(), &experts)?;
/// assert_eq!(chosen.as_vec(), [0.7, 0.2, 0.5, 0.3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// From each sequence, the vectors at positions of its own:
///
/// ```
/// use typed_transformer::{ops::gather, prelude::*, tokens::Indices};
/// dims! { pub Batch = 2; pub SeqLen = 2; pub Kept = 1; pub EmbedDim = 2; }
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0]);
/// let kept = Indices::new(&[1, 0], (Batch, Kept), SeqLen)?;
/// let vectors: Tensor<(Batch, Kept, EmbedDim), f32, Cpu> = gather(x, axis::<SeqLen>(), &kept)?;
/// assert_eq!(vectors.as_vec(), [2.0, 20.0, 3.0, 30.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gather<Dims, Name: Dim, K: Dim, Places, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
    indices: &Indices<Places, Name>,
) -> Result<Tensor<Dims::Replaced<K>, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
    Places: PlacesIn<Dims, K, WhichAxis>,
{
    const OP: &str = "gather";
    let (shape, places) = (*input.shape(), indices.shape());
    check_same_size("the input", shape.axis(), "the indices", indices.axis()).map_err(dim_error(OP))?;
    let to = shape.replace_axis(places.own_axis());
    let (places_sizes, to_sizes) = (sizes(&places), sizes(&to));
    if !to_sizes.starts_with(&places_sizes) {
        return Err(OpError::Shape { op: OP, from: format!("{shape:?}"), to: format!("{places:?}") });
    }
    let repeats = to_sizes[places_sizes.len()..].iter().product();
    gather_repeated(OP, input, indices.as_slice(), repeats, to)
}

/// The parts of a tensor at some indices of the axis `Name`: `out[.., k, ..] = input[.., indices[k], ..]`.
///
/// `(.., Name, ..), (K) indices of Name -> (.., K, ..)`. It is PyTorch's `index_select`. For the rows of a table,
/// [`embed`](super::embed) takes a batch of token ids.
///
/// ```
/// use typed_transformer::{ops::take, prelude::*, tokens::Indices};
/// dims! { pub SeqLen = 3; pub Kept = 2; pub EmbedDim = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let kept = Indices::new(&[2, 0], (Kept,), SeqLen)?;
/// let rows: Tensor<(Kept, EmbedDim), f32, Cpu> = take(x, axis::<SeqLen>(), &kept)?;
/// assert_eq!(rows.as_vec(), [3.0, 30.0, 1.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn take<Dims, Name: Dim, K: DataDim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
    indices: &Indices<(K,), Name>,
) -> Result<Tensor<Dims::Replaced<K>, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "take";
    let shape = *input.shape();
    check_same_size("the input", shape.axis(), "the indices", indices.axis()).map_err(dim_error(OP))?;
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let to = shape.replace_axis(indices.shape().0);
    gather_runs(OP, input, run_starts(outer, indices.as_slice(), len, inner), inner, to)
}

/// Indices over these axes say what [`gather`] takes from a tensor over `Dims`: they have all axes before `WhichAxis`,
/// an axis `K` in its place, and all or none of the axes after it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "indices over `{Self}` do not fit a tensor over `{Dims}`",
    label = "indices over `{Self}`",
    note = "the indices have all axes before the one that they index, then an axis of their own, and then all or none of the axes after it"
)]
pub trait PlacesIn<Dims: Shape, K: Dim, WhichAxis>: Shape {
    /// The axis in place of `WhichAxis`.
    fn own_axis(self) -> K;
}

macro_rules! places_in {
    ($index:tt: $(($before:ident $_other:ident))* [$axis:ident] $($after:ident)*) => {
        places_in!(@impl $index: $($before)* [$axis] $($after)*; $($after)*);
        places_in!(@some $index: $($before)* [$axis] $($after)*);
    };
    (@some $index:tt: $($before:ident)* [$axis:ident]) => {};
    (@some $index:tt: $($before:ident)* [$axis:ident] $($after:ident)+) => {
        places_in!(@impl $index: $($before)* [$axis] $($after)+; );
    };
    (@impl $index:tt: $($before:ident)* [$axis:ident] $($after:ident)*; $($given:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($before: AnyDim,)* $axis: AnyDim, Own: Dim, $($after: AnyDim,)*>
            PlacesIn<($($before,)* $axis, $($after,)*), Own, Axis<$index>> for ($($before,)* Own, $($given,)*)
        {
            fn own_axis(self) -> Own {
                self.$index
            }
        }
    };
}
for_each_axis!(places_in);

/// As [`gather`], where an index counts for `repeats` elements of the result: for one, or for all after `Name`.
pub(super) fn gather_repeated<Dims, Name: Dim, K: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    indices: &[usize],
    repeats: usize,
    to: Dims::Replaced<K>,
) -> Result<Tensor<Dims::Replaced<K>, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    ensure_not_empty(op, &to)?;
    let (_, len, inner) = outer_len_inner(input.shape(), Dims::INDEX);
    let (_, count, _) = outer_len_inner(&to, Dims::INDEX);
    // An index that holds for all elements after `Name` moves them as one run.
    let starts = starts_of_places(indices, (len, inner), (count, inner / repeats));
    gather_runs(op, input, starts, repeats, to)
}

/// The offset of each run in the input. The indexed axis has `len` parts of `inner` elements. The result has `count`
/// places along it, each with `indices_per_place` indices.
fn starts_of_places(
    indices: &[usize],
    (len, inner): (usize, usize),
    (count, indices_per_place): (usize, usize),
) -> Vec<usize> {
    let mut starts = Vec::with_capacity(indices.len());
    for (outer, indices) in indices.chunks_exact(count * indices_per_place).enumerate() {
        let start = |(index, run): (&usize, usize)| (outer * len + index) * inner + run;
        // The usual case has no counter, which costs as much as the rest of the loop.
        match indices_per_place {
            1 => starts.extend(indices.iter().map(|index| start((index, 0)))),
            _ => starts.extend(indices.iter().zip((0..indices_per_place).cycle()).map(start)),
        }
    }
    starts
}

/// The offset of each chosen run. There are `outer` groups of `len` runs, and a run has `inner` elements. `indices`
/// chooses the same runs in each group.
pub(super) fn run_starts(outer: usize, indices: &[usize], len: usize, inner: usize) -> Vec<usize> {
    (0..outer).flat_map(|outer| indices.iter().map(move |&index| (outer * len + index) * inner)).collect()
}

/// Runs of `len` elements, which begin at `starts`, as a tensor over `to`.
pub(crate) fn gather_runs<Dims: Shape, To: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    starts: Vec<usize>,
    len: usize,
    to: To,
) -> Result<Tensor<To, E, D, T>, OpError> {
    ensure_not_empty(op, &to)?;
    if D::HAS_KERNELS {
        return run_kernel(op, to, |tape| gather_kernel(D::read(input, tape)?, starts, len));
    }
    gather_runs_by_dfdx(op, input, starts, len, to)
}

/// The definition of [`gather_runs`]. `starts` may be empty.
pub(super) fn gather_runs_by_dfdx<Dims: Shape, To: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    starts: Vec<usize>,
    len: usize,
    to: To,
) -> Result<Tensor<To, E, D, T>, OpError> {
    if to.num_elements() == 0 {
        // dfdx gathers at least one element.
        let (input, tape) = input.split_tape();
        return Ok(input.device().try_zeros_like(&to).map_err(device_error(op))?.put_tape(tape));
    }
    let elements = input.shape().num_elements();
    let (width, indices) = rows_of_runs(&starts, len, elements);
    let count = indices.len();
    let indices: Tensor<(usize,), usize, D> =
        input.device().try_tensor_from_vec(indices, (count,)).map_err(device_error(op))?;
    let gathered: Tensor<(usize, usize), E, D, T> =
        reshape_to(op, input, (elements / width, width))?.try_gather(indices).map_err(device_error(op))?;
    reshape_to(op, gathered, to)
}

/// The rows of which runs of `len` elements consist: their width, and the index of each. Runs that are whole rows of the
/// input, which has `elements` elements, need one index each. Others need one for each element.
fn rows_of_runs(starts: &[usize], len: usize, elements: usize) -> (usize, Vec<usize>) {
    let are_rows = elements.is_multiple_of(len) && starts.iter().all(|start| start.is_multiple_of(len));
    match are_rows {
        true => (len, starts.iter().map(|start| start / len).collect()),
        false => (1, starts.iter().flat_map(|&start| start..start + len).collect()),
    }
}
