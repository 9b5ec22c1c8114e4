//! Row operations of a linear layer: bias, column sums, transposed copy.

use crate::autograd::Buffer;
use crate::autograd::elementwise::partition_rows;
use crate::simd::{add_row, row_chunks, row_chunks_mut, vectorized};

/// Sets each row to the bias, or to 0.
pub fn fill_rows(rows: &mut [f32], bias: Option<&[f32]>, width: usize) {
    match bias {
        Some(bias) => row_chunks_mut(rows, width).for_each(|row| row.copy_from_slice(bias)),
        None => rows.fill(0.0),
    }
}

/// `(N, Width) -> (Width,)`: `sums += Σ rows`.
pub fn add_column_sums(sums: &mut [f32], rows: &[f32]) {
    /// Partial sums lose less precision, because adding to a large sum rounds more.
    const ROWS_PER_PARTIAL_SUM: usize = 64;
    let width = sums.len().max(1);
    let mut partial = Buffer::recycled(sums.len());
    vectorized!({
        for rows in rows.chunks(ROWS_PER_PARTIAL_SUM * width) {
            partial.fill(0.0);
            for row in rows.chunks_exact(width) {
                add_row(&mut partial, row);
            }
            add_row(sums, &partial);
        }
    });
}

/// `(Rows, Columns) -> (Columns, Rows)`.
pub fn transpose_copy(elements: &[f32], rows: usize, columns: usize) -> Buffer {
    /// Rows of a block. One element of each row fills a cache line of the result.
    const TRANSPOSE_BLOCK: usize = 16;
    /// The additional cost of an element whose neighbour is not read next, in multiply-adds.
    const MACS_PER_STRIDED_READ: usize = 16;
    let mut result = Buffer::recycled(elements.len());
    let partition = partition_rows(columns, rows, MACS_PER_STRIDED_READ);
    let chunk_len = partition.chunk_len();
    let chunks = partition.split_mut(&mut result, rows).enumerate();
    partition.map_chunks(chunks, |(chunk, result)| {
        for (i, block) in row_chunks(elements, TRANSPOSE_BLOCK * columns).enumerate() {
            let block = &block[chunk * chunk_len..];
            for (column, result) in row_chunks_mut(result, rows).enumerate() {
                let column = block[column..].iter().step_by(columns);
                for (to, element) in result[i * TRANSPOSE_BLOCK..].iter_mut().zip(column) {
                    *to = *element;
                }
            }
        }
    });
    result
}
