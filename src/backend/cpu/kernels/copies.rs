//! Copies of elements: rows at any places, and tensors one after the other.

use crate::autograd::{
    Buffer, GradientTarget, KernelOutput, Operand, Partition, partition_elements, partition_rows, with_backward,
};
use crate::simd::{add_row, row_chunks, row_chunks_mut, vectorized};
use dfdx::tensor::CpuError;

/// The least length of a row for which threads divide the gradient of the input.
const MIN_ROW_LEN_TO_SPLIT: usize = 8;

/// Copies elements; a single one without a call of `memcpy`.
fn copy_run(y: &mut [f32], x: &[f32]) {
    match (y, x) {
        ([y], [x]) => *y = *x,
        (y, x) => y.copy_from_slice(x),
    }
}

/// Rows of `row_len` elements, which begin at these places of the input. A row may be read more than once.
pub fn gather_kernel(input: Operand, starts: Vec<usize>, row_len: usize) -> Result<KernelOutput, CpuError> {
    let mut y = input.alloc_output(starts.len() * row_len)?;
    let partition = partition_rows(starts.len(), row_len, 0);
    partition.map_mut(&mut y, row_len, |rows, y| {
        let (x, starts) = (input.elements(), rows.slice(&starts, 1));
        // A single element needs no slice, and no call of `memcpy`.
        match row_len {
            1 => y.iter_mut().zip(starts).for_each(|(y, start)| *y = x[*start]),
            _ => {
                row_chunks_mut(y, row_len).zip(starts).for_each(|(y, start)| y.copy_from_slice(&x[*start..][..row_len]))
            }
        }
    });
    let output = input.new_tensor(y)?;

    let (input_len, input) = (input.len(), input.gradient);
    Ok(with_backward(output, move |dy, gradients| {
        input.add_with(gradients, input_len, |dx| {
            if row_len == 1 {
                return dy.iter().zip(&starts).for_each(|(dy, &start)| dx[start] += dy);
            }
            // Rows may overlap. Each thread has a part of the gradient. It goes through all rows in their order and
            // adds what falls into its part, which pays if rows are long.
            let partition = match row_len < MIN_ROW_LEN_TO_SPLIT {
                true => Partition::whole(input_len),
                false => partition_elements(input_len, dy.len() / input_len.max(1)),
            };
            partition.map_mut(dx, 1, |part, dx| {
                let part = part.range();
                vectorized!({
                    for (row, &start) in row_chunks(&dy, row_len).zip(&starts) {
                        let both = start.max(part.start)..(start + row_len).min(part.end);
                        if !both.is_empty() {
                            let row = &row[both.start - start..both.end - start];
                            add_row(&mut dx[both.start - part.start..both.end - part.start], row);
                        }
                    }
                });
            });
        });
    }))
}

/// Joins tensors, of which there is at least one, along an axis. The axes before it have `outer` indices in all.
pub fn concat_kernel(parts: Vec<Operand>, outer: usize) -> Result<KernelOutput, CpuError> {
    let lens: Vec<usize> = parts.iter().map(|part| part.len() / outer).collect();
    let block_len = lens.iter().sum();
    let partition = partition_rows(outer, block_len, 0);
    let mut y = parts[0].alloc_output(outer * block_len)?;
    partition.map_mut(&mut y, block_len, |blocks, y| {
        let mut start = 0;
        for (part, &len) in parts.iter().zip(&lens) {
            let x = blocks.slice(part.elements(), len);
            for (y, x) in row_chunks_mut(y, block_len).zip(row_chunks(x, len)) {
                copy_run(&mut y[start..][..len], x);
            }
            start += len;
        }
    });
    let output = parts[0].new_tensor(y)?;

    let parts: Vec<GradientTarget> = parts.into_iter().map(|part| part.gradient).collect();
    Ok(with_backward(output, move |dy, gradients| {
        let mut start = 0;
        for (part, &len) in parts.iter().zip(&lens) {
            let mut dx = Buffer::recycled(outer * len);
            partition.map_mut(&mut dx, len, |blocks, dx| {
                let dy = blocks.slice(&dy, block_len);
                for (dx, dy) in row_chunks_mut(dx, len).zip(row_chunks(dy, block_len)) {
                    copy_run(dx, &dy[start..][..len]);
                }
            });
            part.add(gradients, dx);
            start += len;
        }
    }))
}
