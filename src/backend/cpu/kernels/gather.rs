use crate::autograd::elementwise::partition_rows;
use crate::autograd::{KernelOutput, Operand, with_backward};
use crate::simd::{add_row, row_chunks, row_chunks_mut, vectorized};
use dfdx::tensor::CpuError;

/// Rows of `row_len` elements, which begin at these places of the input. A row may be read more than once.
pub fn gather_kernel(input: Operand, starts: Vec<usize>, row_len: usize) -> Result<KernelOutput, CpuError> {
    let mut y = input.alloc_output(starts.len() * row_len)?;
    let partition = partition_rows(starts.len(), row_len, 0);
    partition.map_mut(&mut y, row_len, |rows, y| {
        for (row, start) in row_chunks_mut(y, row_len).zip(rows.slice(&starts, 1)) {
            row.copy_from_slice(&input.elements()[*start..][..row_len]);
        }
    });
    let output = input.new_tensor(y)?;

    let (input_len, input) = (input.len(), input.gradient);
    Ok(with_backward(output, move |dy, gradients| {
        input.add_with(gradients, input_len, |dx| {
            vectorized!({
                for (row, start) in row_chunks(&dy, row_len).zip(&starts) {
                    add_row(&mut dx[*start..][..row_len], row);
                }
            });
        })
    }))
}
