use super::concat_split::{outer_len_inner, sizes};
use super::select::shape_of_sizes;
use super::{OpError, Real, device_error, ensure_not_empty, operand::distinct_from, unnamed::reshape_to};
use crate::backend::{Backend, Tape, concat_kernel, run_kernel};
use crate::dims::{BroadcastFrom, Dim};
use dfdx::shapes::{Axes3, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{PermuteTo, TryStack};

/// Stacks tensors along the new axis `name`: `Name` tensors `(.., ..) -> (.., Name, ..)`. The result's type says where
/// the axis is.
///
/// # Errors
/// [`OpError::Count`] if there are not `name` tensors.
///
/// ```
/// use typed_transformer::{ops::stack, prelude::*};
/// dims! { pub NumExperts = 2; pub Batch = 3; }
/// let device = Cpu::default();
/// let one: Tensor<(Batch,), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0]);
/// let other: Tensor<(Batch,), f32, Cpu> = device.tensor(vec![10.0, 20.0, 30.0]);
/// let rows: Tensor<(NumExperts, Batch), f32, Cpu> = stack(vec![one.clone(), other.clone()], NumExperts)?;
/// assert_eq!(rows.as_vec(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// let columns: Tensor<(Batch, NumExperts), f32, Cpu> = stack(vec![one.clone(), other], NumExperts)?;
/// assert_eq!(columns.as_vec(), [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let one: Result<Tensor<(NumExperts, Batch), _, _>, _> = stack(vec![one], NumExperts);
/// assert_eq!(one.unwrap_err().to_string(), "stack: 1 tensors for NumExperts=2");
/// # Ok::<(), OpError>(())
/// ```
pub fn stack<Smaller: Shape, Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    tensors: Vec<Tensor<Smaller, E, D, T>>,
    name: Name,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: BroadcastFrom<Smaller, Name, WhichAxis>,
{
    const OP: &str = "stack";
    let count = tensors.len();
    let shape = match tensors.first() {
        Some(first) if count == name.size() => *first.shape(),
        _ => return Err(OpError::Count { op: OP, expected: format!("{name:?}"), found: count }),
    };
    ensure_not_empty(OP, &shape)?;
    if let Some(other) = tensors.iter().find(|tensor| *tensor.shape() != shape) {
        return Err(OpError::Shape { op: OP, from: format!("{:?}", other.shape()), to: format!("{shape:?}") });
    }
    let mut sizes = sizes(&shape);
    sizes.insert(Dims::INDEX, count);
    let stacked: Dims = shape_of_sizes(OP, &sizes)?;
    let (before, _, after) = outer_len_inner(&stacked, Dims::INDEX);
    if D::HAS_KERNELS {
        return run_kernel(OP, stacked, |tape| {
            let parts = tensors.into_iter().map(|tensor| D::read(tensor, tape)).collect::<Result<_, _>>()?;
            concat_kernel(parts, before)
        });
    }
    let mut flat: Vec<Tensor<(usize,), E, D, T>> = Vec::with_capacity(count);
    for tensor in tensors {
        let mut tensor = reshape_to(OP, tensor, (shape.num_elements(),))?;
        for earlier in &flat {
            tensor = distinct_from(earlier, tensor)?;
        }
        flat.push(tensor);
    }
    let rows: Tensor<(usize, usize), E, D, T> = flat.try_stack().map_err(device_error(OP))?;
    if Dims::INDEX == 0 {
        return reshape_to(OP, rows, stacked);
    }
    let blocks = reshape_to(OP, rows, (count, before, after))?;
    reshape_to(OP, blocks.try_permute::<_, Axes3<1, 0, 2>>().map_err(device_error(OP))?, stacked)
}
