use crate::backend::cpu::{
    autograd::{KernelOutput, Operand, record},
    simd::{add_row, row_chunks, row_chunks_mut},
};
use dfdx::tensor::CpuError;
use std::sync::Arc;

/// `(V, M), (N,) -> (N, M)`: copies the row of each token, where the definition looks up each element.
pub fn record_embedding(table: Operand, ids: Arc<[usize]>, width: usize) -> Result<KernelOutput, CpuError> {
    let mut y = table.alloc_output(ids.len() * width)?;
    for (id, row) in ids.iter().zip(row_chunks_mut(&mut y, width)) {
        row.copy_from_slice(&table.elements[id * width..][..width]);
    }
    let output = table.new_tensor(y)?;

    let table = table.tensor.ghost();
    Ok(record(output, move |d_out, gradients| {
        let d_table = gradients.get_or_alloc_mut(&table)?;
        for (id, d_row) in ids.iter().zip(row_chunks(d_out, width)) {
            add_row(&mut d_table[id * width..][..width], d_row);
        }
        Ok(())
    }))
}
