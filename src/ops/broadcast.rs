use super::{OpError, Real, failed, or_panic};
use crate::dims::{AxisName, Dim, HasAxis};
use dfdx::{
    shapes::{Axes, HasShape, Shape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, Device},
};

/// Repeats a tensor along a new axis, which is named: `(.., ..) -> (.., Name, ..)`.
///
/// # Panics
/// If a run-time dimension has another size in `shape` than in `input` or the device fails;
/// [`try_broadcast`] returns the error.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub Batch; }
/// let bias: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0]);
/// let rows: Tensor<(Batch, EmbedDim), f32, Cpu> =
///     broadcast(bias, (Batch::new(2), EmbedDim), axis::<Batch>());
/// assert_eq!(rows.as_vec(), [1.0, 2.0, 1.0, 2.0]);
/// ```
#[track_caller]
#[must_use]
pub fn broadcast<Dims, Name: Dim, Place: Axes, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims::Without, E, D, T>,
    shape: Dims,
    axis: AxisName<Name>,
) -> Tensor<Dims, E, D, T>
where
    Dims: HasAxis<Name, Place>,
{
    or_panic(try_broadcast(input, shape, axis))
}

/// Fallible [`broadcast`].
///
/// # Errors
/// [`OpError::Shape`] if a run-time dimension has another size in `shape` than in `input`;
/// [`OpError::Device`] if the device fails.
pub fn try_broadcast<Dims, Name: Dim, Place: Axes, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims::Without, E, D, T>,
    shape: Dims,
    _: AxisName<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, Place>,
{
    const OP: &str = "broadcast";
    let mut sizes: Vec<_> = shape.concrete().into_iter().collect();
    sizes.remove(Dims::INDEX);
    let found: Vec<_> = input.shape().concrete().into_iter().collect();
    if sizes != found {
        return Err(OpError::Shape {
            op: OP,
            from: format!("{:?}", input.shape()),
            to: format!("{shape:?}"),
        });
    }
    input
        .try_broadcast_like::<_, Place>(&shape)
        .map_err(failed(OP))
}
