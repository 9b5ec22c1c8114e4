use super::MiddleAxis;
use crate::autograd::{KernelOutput, Operand, partition_rows, with_backward};
use crate::simd::{row_chunks_mut, vectorized};
use dfdx::tensor::CpuError;

/// The cumulative sums along an axis. The gradient is the cumulative sum from the other end.
pub fn cumsum_kernel(input: Operand, axis: MiddleAxis) -> Result<KernelOutput, CpuError> {
    let block_len = axis.block_len();
    let partition = partition_rows(axis.outer, block_len, 0);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, block_len, |blocks, y| {
        y.copy_from_slice(blocks.slice(input.elements(), block_len));
        row_chunks_mut(y, block_len).for_each(|block| sum_rows(block.chunks_mut(axis.inner), axis.inner));
    });
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        partition.map_chunks(partition.split_mut(&mut dy, block_len), |dy| {
            row_chunks_mut(dy, block_len).for_each(|block| sum_rows(block.chunks_mut(axis.inner).rev(), axis.inner));
        });
        input.add(gradients, dy);
    }))
}

/// Adds to each row all rows before it. The sums are `f64`, so that they do not round more as they grow.
fn sum_rows<'a>(mut rows: impl Iterator<Item = &'a mut [f32]>, inner: usize) {
    let mut sums = vec![0.0; inner];
    vectorized!({
        for row in &mut rows {
            for (x, sum) in row.iter_mut().zip(&mut sums) {
                *sum += f64::from(*x);
                *x = *sum as f32;
            }
        }
    });
}
