use crate::autograd::{Buffer, GradientTarget, KernelOutput, Operand, partition_rows, with_backward};
use crate::simd::{row_chunks, row_chunks_mut};
use dfdx::tensor::CpuError;

/// At least one tensor, one after the other along an axis. There are `outer` blocks before the axis.
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
                y[start..][..len].copy_from_slice(x);
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
                    dx.copy_from_slice(&dy[start..][..len]);
                }
            });
            part.add(gradients, dx);
            start += len;
        }
    }))
}
