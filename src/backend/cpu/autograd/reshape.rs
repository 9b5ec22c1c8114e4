//! The elements of a tensor in row-major order, over another shape.

use super::elementwise::partition_elements;
use super::gradients::tensor_id;
use super::operand::{FlatTensor, KernelOutput, record_kernel, with_backward};
use super::shared_tape::Tape;
use super::{Runs, StridedOperand, storage, unnamed};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Cpu, CpuError, PutTape, SplitTape, Tensor, ZerosTensor};
use dfdx::tensor_ops::ReshapeTo;

/// The same elements over a shape of as many elements. This shares the storage of a contiguous tensor, and copies any
/// other.
pub fn reshape<Dims: Shape, To: Shape, T: Tape<f32, Cpu>>(
    tensor: Tensor<Dims, f32, Cpu, T>,
    shape: To,
) -> Result<Tensor<To, f32, Cpu, T>, CpuError> {
    contiguous(tensor)?.try_reshape_like(&shape)
}

/// [`reshape`] to one axis.
pub fn contiguous<Dims: Shape, T: Tape<f32, Cpu>>(
    tensor: Tensor<Dims, f32, Cpu, T>,
) -> Result<Tensor<(usize,), f32, Cpu, T>, CpuError> {
    contiguous_unnamed(unnamed(tensor))
}

fn contiguous_unnamed<Sizes: Shape, T: Tape<f32, Cpu>>(
    tensor: Tensor<Sizes, f32, Cpu, T>,
) -> Result<Tensor<(usize,), f32, Cpu, T>, CpuError> {
    let len = tensor.shape().num_elements();
    let (tensor, tape) = tensor.split_tape();
    if len == 0 {
        // dfdx's copy of a permuted tensor reads a first element.
        return Ok(tensor.device().try_zeros_like(&(len,))?.put_tape(tape));
    }
    match flat_view(&tensor)? {
        Some(flat) => Ok(flat.put_tape(tape)),
        None => record_kernel(copy_kernel(StridedOperand::new(tensor))?, (len,), tape),
    }
}

/// The same tensor as one axis; `None` if its elements must be copied for that.
pub fn flat_view<Dims: Shape>(tensor: &Tensor<Dims, f32, Cpu>) -> Result<Option<FlatTensor>, CpuError> {
    if storage::elements(tensor).is_none() {
        return Ok(None);
    }
    let len = tensor.shape().num_elements();
    let flat = tensor.clone().try_reshape_like(&(len,))?;
    // dfdx copies a permuted tensor even if only axes of one element have moved. Its copy has a gradient of its own.
    Ok((len == 0 || tensor_id(&flat) == tensor_id(tensor)).then_some(flat))
}

/// The elements in row-major order.
fn copy_kernel(operand: StridedOperand) -> Result<KernelOutput, CpuError> {
    let (runs, partition) = (Runs::new(&operand), partition_elements(operand.len(), 0));
    let mut y = operand.alloc_output(operand.len())?;
    partition.map_mut(&mut y, 1, |chunk, y| {
        let storage = operand.storage();
        runs.for_each(chunk.iter(), |elements, start| {
            let y = &mut y[elements.start - chunk.start()..elements.end - chunk.start()];
            match runs.stride {
                0 => y.fill(storage[start]),
                1 => y.copy_from_slice(&storage[start..][..y.len()]),
                stride => y.iter_mut().zip(storage[start..].iter().step_by(stride)).for_each(|(y, x)| *y = *x),
            }
        });
    });
    let output = operand.new_tensor(y)?;
    let gradient = operand.gradient();
    Ok(with_backward(output, move |dy, gradients| gradient.add(gradients, &dy)))
}
