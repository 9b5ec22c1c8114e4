use crate::autograd::{KernelOutput, Operand, partition_elements, with_backward};
use crate::simd::vectorized;
use dfdx::tensor::CpuError;

/// `factor · x + addend`. An addend of -0 changes no `x`.
pub fn affine_kernel(input: Operand, factor: f32, addend: f32) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(input.len(), 0);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, 1, |elements, y| {
        let x = elements.slice(input.elements(), 1);
        vectorized!(y.iter_mut().zip(x).for_each(|(y, x)| *y = factor * x + addend));
    });
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        if factor != 1.0 {
            partition.map_chunks(partition.split_mut(&mut dy, 1), |dy| {
                vectorized!(dy.iter_mut().for_each(|d| *d *= factor));
            });
        }
        input.add(gradients, dy);
    }))
}
