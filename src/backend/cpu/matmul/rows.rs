//! Row operations of a linear layer: bias, column sums.

use crate::autograd::Buffer;
use crate::simd::{add_row, row_chunks_mut, vectorized};

/// So many rows are summed by themselves before their sum is added to the total: adding to a large sum rounds more.
pub const ROWS_PER_PARTIAL_SUM: usize = 64;

/// Sets each row to the bias, or to 0.
pub fn fill_rows(rows: &mut [f32], bias: Option<&[f32]>, width: usize) {
    match bias {
        Some(bias) => row_chunks_mut(rows, width).for_each(|row| row.copy_from_slice(bias)),
        None => rows.fill(0.0),
    }
}

/// `(N, Width) -> (Width,)`: `sums += Σ rows`.
pub fn add_column_sums(sums: &mut [f32], rows: &[f32]) {
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
