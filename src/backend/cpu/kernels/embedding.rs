use crate::{
    autograd::{KernelOutput, Operand, with_backward},
    simd::{add_row, row_chunks, row_chunks_mut},
};
use dfdx::tensor::CpuError;
use std::sync::Arc;

/// `(V, M), (N,) -> (N, M)`: copies each token's table row as a whole. The definition looks up single
/// elements.
pub fn embedding_kernel(table: Operand, ids: Arc<[usize]>, width: usize) -> Result<KernelOutput, CpuError> {
    let mut y = table.alloc_output(ids.len() * width)?;
    for (id, row) in ids.iter().zip(row_chunks_mut(&mut y, width)) {
        row.copy_from_slice(&table.elements()[id * width..][..width]);
    }
    let output = table.new_tensor(y)?;

    let (table_len, table) = (table.len(), table.gradient);
    Ok(with_backward(output, move |dy, gradients| {
        table.add_with(gradients, table_len, |d_table| {
            for (id, d_row) in ids.iter().zip(row_chunks(&dy, width)) {
                add_row(&mut d_table[id * width..][..width], d_row);
            }
        })
    }))
}
