use crate::autograd::{KernelOutput, Operand, partition_elements, with_backward};
use crate::simd::vectorized;
use dfdx::tensor::CpuError;

/// The kept elements times `factor`; the others become 0.
pub fn dropout_kernel(input: Operand, is_kept: Vec<bool>, factor: f32) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(input.len(), 0);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, 1, |elements, y| {
        y.copy_from_slice(elements.slice(input.elements(), 1));
        drop_others(y, elements.slice(&is_kept, 1), factor);
    });
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        partition.map_mut(&mut dy, 1, |elements, dy| drop_others(dy, elements.slice(&is_kept, 1), factor));
        input.add(gradients, dy);
    }))
}

fn drop_others(x: &mut [f32], is_kept: &[bool], factor: f32) {
    vectorized!({
        for (x, is_kept) in x.iter_mut().zip(is_kept) {
            *x = if *is_kept { *x * factor } else { 0.0 };
        }
    });
}
