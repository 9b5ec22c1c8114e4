//! The same elements under other axes.

use super::unnamed::reshape_to;
use super::views::{NamedAxes, Views};
use super::{OpError, Real, device_error};
use crate::backend::{Backend, Tape};
use crate::dims::{
    AnyDim, AxisOf, BroadcastFrom, Const, DataDim, DataShape, Dim, EndsIn, HasAxis, PermutationOf, RenameOf,
    SameFactors, num_elements,
};
use crate::internal::Internal;
use dfdx::shapes::{HasShape, Shape};
use dfdx::{tensor::Tensor, tensor_ops::BroadcastTo};

/// The same elements in the same order, with axes merged to a [`Product`](crate::dims::Product) or split from one.
///
/// For example `(Batch, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, HeadDim)`. The names of the axes and their
/// order stay. [`rearrange!`](crate::rearrange!) also changes the order, [`rename`](crate::ops::rename) the name of an
/// axis.
///
/// ```
/// use typed_transformer::{ops::reshape, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 2; pub Batch; }
/// let shape = (Batch::new(1), Product::default());
/// let x: Tensor<(Batch, Product<NumHeads, HeadDim>), f32, Cpu> =
///     Cpu::default().tensor((vec![1.0, 2.0, 3.0, 4.0], shape));
/// let heads: Tensor<(Batch, NumHeads, HeadDim), f32, Cpu> = reshape(x.clone(), (Batch::new(1), NumHeads, HeadDim))?;
/// assert_eq!(heads.as_vec(), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(
///     reshape(x, (Batch::new(2), NumHeads, HeadDim)).err().unwrap().to_string(),
///     "reshape: shape (Batch=1, Product<NumHeads, HeadDim>=4) is not compatible with \
///      (Batch=2, NumHeads=2, HeadDim=2)",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn reshape<Dims, To: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    shape: To,
) -> Result<Tensor<To, E, D, T>, OpError>
where
    Dims: Shape + SameFactors<To>,
{
    let is_compatible = input.shape().has_sizes_of(shape);
    reshape_if(is_compatible, "reshape", input, shape)
}

/// The same elements over another shape; an error if the caller finds this shape incompatible, or if it has another
/// number of elements.
fn reshape_if<Dims: Shape, To: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    is_compatible: bool,
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    shape: To,
) -> Result<Tensor<To, E, D, T>, OpError> {
    if !is_compatible || input.shape().num_elements() != num_elements(&shape) {
        return Err(OpError::Shape { op, from: format!("{:?}", input.shape()), to: format!("{shape:?}") });
    }
    reshape_to(op, input, shape)
}

/// The vectors along the last axis as the rows of a matrix: `(.., M) -> (Rows, M)`, PyTorch's `x.view(-1, width)`.
///
/// All axes before the last one become one. If one of them is a [`Shard`](crate::ranks::Shard), the rows are those of
/// this rank, so a sum over them is not the whole sum.
///
/// ```
/// use typed_transformer::{ops::flatten, prelude::*};
/// dims! { pub Batch = 2; pub SeqLen = 2; pub EmbedDim = 1; pub Tokens; }
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// let tokens: Tensor<(Tokens, EmbedDim), f32, Cpu> = flatten(x.clone(), Tokens::new(4))?;
/// assert_eq!(tokens.as_vec(), x.as_vec());
/// assert_eq!(
///     flatten(x, Tokens::new(3)).unwrap_err().to_string(),
///     "flatten: shape (Batch=2, SeqLen=2, EmbedDim=1) is not compatible with (Tokens=3, EmbedDim=1)",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn flatten<Dims, Rows: Dim, M: AnyDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rows: Rows,
) -> Result<Tensor<(Rows, M), E, D, T>, OpError>
where
    Dims: EndsIn<M, Before: DataShape>,
{
    let width = input.shape().last();
    let is_compatible = num_elements(&input.shape().with_last(Const::<1>)) == rows.size();
    reshape_if(is_compatible, "flatten", input, (rows, width))
}

/// The rows of a matrix as vectors along the last axis: `(Rows, M) -> (.., M)`. It undoes [`flatten`].
///
/// The axes may have another order than before [`flatten`]: its result no longer knows the order.
///
/// ```
/// use typed_transformer::{ops::unflatten, prelude::*};
/// dims! { pub Batch; pub SeqLen = 2; pub EmbedDim = 1; pub Tokens; }
/// let rows = (vec![1.0, 2.0, 3.0, 4.0], (Tokens::new(4), EmbedDim));
/// let tokens: Tensor<(Tokens, EmbedDim), f32, Cpu> = Cpu::default().tensor(rows);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = unflatten(tokens.clone(), (Batch::new(2), SeqLen, EmbedDim))?;
/// assert_eq!(x.as_vec(), tokens.as_vec());
/// assert_eq!(
///     unflatten(tokens, (Batch::new(3), SeqLen, EmbedDim)).unwrap_err().to_string(),
///     "unflatten: shape (Tokens=4, EmbedDim=1) is not compatible with (Batch=3, SeqLen=2, EmbedDim=1)",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn unflatten<To, Rows: Dim, M: AnyDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(Rows, M), E, D, T>,
    shape: To,
) -> Result<Tensor<To, E, D, T>, OpError>
where
    To: EndsIn<M, Before: DataShape>,
{
    let is_compatible = num_elements(&shape.with_last(Const::<1>)) == input.shape().0.size();
    reshape_if(is_compatible, "unflatten", input, shape)
}

/// The same tensor with another name for one axis: `(.., From, ..) -> (.., To, ..)`.
///
/// A `slice`, `slice_last`, `narrow`, `take`, `gather` or `top_k` of all indices also gives an axis another name of the
/// same size. [`flatten`] and [`unflatten`] take any names in place of those of the rows: only the number of rows is
/// compared.
///
/// ```
/// use typed_transformer::{ops::rename, prelude::*};
/// dims! { pub EmbedDim = 2; pub NumHeads = 2; pub HeadDim = 1; pub QLen; pub KLen; }
/// let x: Tensor<(QLen, EmbedDim), f32, Cpu> = Cpu::default().zeros_like(&(QLen::new(3), EmbedDim));
/// let keys: Tensor<(KLen, EmbedDim), f32, Cpu> = rename(x, axis::<QLen>(), KLen::new(3))?;
/// assert_eq!(
///     rename(keys.clone(), axis::<KLen>(), QLen::new(4)).unwrap_err().to_string(),
///     "rename: shape (KLen=3, EmbedDim=2) is not compatible with (QLen=4, EmbedDim=2)",
/// );
/// let heads: Tensor<(KLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     rename(keys, axis::<EmbedDim>(), Product::default())?;
/// # Ok::<(), OpError>(())
/// ```
pub fn rename<Dims, From: Dim, To: RenameOf<From>, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<From>,
    to: To,
) -> Result<Tensor<Dims::Replaced<To>, E, D, T>, OpError>
where
    Dims: HasAxis<From, WhichAxis>,
{
    const OP: &str = "rename";
    let from = *input.shape();
    let shape = from.replace_axis(to);
    if from.axis().size() != to.size() {
        return Err(OpError::Shape { op: OP, from: format!("{from:?}"), to: format!("{shape:?}") });
    }
    reshape_to(OP, input, shape)
}

/// Permutes the axes into the order of the result's type, for example `(A, B, C) -> (C, A, B)`.
///
/// A tensor that has an axis twice is refused: which of the two is meant is not known.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let columns: Tensor<(EmbedDim, SeqLen), f32, Cpu> = permute(x)?;
/// assert_eq!(columns.as_vec(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// ```compile_fail,E0283
/// use typed_transformer::prelude::*;
/// dims! { pub SrcLen = 3; }
/// let x: Tensor<(SrcLen, SrcLen), f32, Cpu> = Cpu::default().zeros();
/// let y: Tensor<(SrcLen, SrcLen), f32, Cpu> = permute(x)?; // cannot infer `WhichAxis`
/// # Ok::<(), OpError>(())
/// ```
pub fn permute<Dims, To: NamedAxes, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<To, E, D, T>, OpError>
where
    Dims: PermutationOf<To, WhichAxis> + NamedAxes,
{
    const OP: &str = "permute";
    let order = Dims::order();
    let order = Views::from_fn(|axis| order.get(axis).copied().unwrap_or(0));
    let input = Views::permuted(Dims::into_sizes(OP, input, Internal(()))?, order).map_err(device_error(OP))?;
    // The number of axes is the same, which the compiler does not know of these two types.
    let shape = Views::from_fn(|axis| input.shape()[axis]);
    To::from_sizes(OP, Views::repeated(input, shape).map_err(device_error(OP))?, Internal(()))
}

/// Repeats a tensor along the new axis `Name`: `(.., ..) -> (.., Name, ..)`.
///
/// # Errors
/// [`OpError::Shape`] if the result would have more elements than a number can count.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub Batch; }
/// let bias: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0]);
/// let rows: Tensor<(Batch, EmbedDim), f32, Cpu> = broadcast(bias, (Batch::new(2), EmbedDim), axis::<Batch>())?;
/// assert_eq!(rows.as_vec(), [1.0, 2.0, 1.0, 2.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn broadcast<Smaller: Shape, Dims, Name: DataDim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Smaller, E, D, T>,
    shape: Dims,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: BroadcastFrom<Smaller, Name, WhichAxis>,
{
    const OP: &str = "broadcast";
    let mut sizes: Vec<_> = shape.concrete().into_iter().collect();
    sizes.remove(Dims::INDEX);
    let found: Vec<_> = input.shape().concrete().into_iter().collect();
    if sizes != found || num_elements(&shape) == usize::MAX {
        return Err(OpError::Shape { op: OP, from: format!("{:?}", input.shape()), to: format!("{shape:?}") });
    }
    input.try_broadcast_like::<_, Dims::Position>(&shape).map_err(device_error(OP))
}
