use super::{OpError, Real, device_error};
use crate::backend::{Backend, Tape};
use crate::dims::{AxisOf, BroadcastFrom, MaybeSharded, num_elements};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::BroadcastTo;

/// Repeats a tensor along the new axis `Name`: `(.., ..) -> (.., Name, ..)`.
///
/// # Errors
/// [`OpError::Shape`] if the result would have more elements than a number can count.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub Batch; }
/// let bias: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0]);
/// let rows: Tensor<(Batch, EmbedDim), f32, Cpu> =
///     broadcast(bias, (Batch::new(2), EmbedDim), axis::<Batch>())?;
/// assert_eq!(rows.as_vec(), [1.0, 2.0, 1.0, 2.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn broadcast<Smaller: Shape, Dims, Name: MaybeSharded, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
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
