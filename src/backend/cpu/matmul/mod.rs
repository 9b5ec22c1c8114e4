//! Matrix products. They run in gemm, with four exceptions: few rows of contiguous operands (`few_rows`), attention
//! (`register_blocked`), the small products of a contraction over any axes (`small_contraction`), and mixed precision on
//! a processor with fast instructions for it (`bfloat16`). On a processor on which gemm does not run,
//! `small_contraction` takes its place.

mod bfloat16;
mod contraction;
mod few_rows;
mod matrix;
mod register_blocked;
mod small_contraction;
mod transpose;

pub use bfloat16::{has_fast_bf16, matmul_in_bf16, round_all_to_bf16, round_to_bf16};
pub use contraction::{StridedAxis, contract_strided};
pub use few_rows::{add_part_of_product, add_product_of_few_rows};
pub use matrix::{Matrix, matmul};
pub use register_blocked::{Extent, multiply};
pub use transpose::transpose_copy;

use crate::autograd::{Buffer, Partition, SumsInParts};
use crate::simd::{add_assign, add_row, row_chunks_mut, vectorized};

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
    let mut parts = SumsInParts::zeros(sums.len());
    vectorized!(for row in rows.chunks_exact(width) {
        add_row(parts.part_for(width), row);
    });
    add_assign(sums, &parts.into_total());
}

/// `(N, Width) -> (Width,)`: `Σ rows` in parts, at least one. Each thread sums rows of its own.
pub fn column_sums_in_parts(rows: &[f32], width: usize) -> Vec<Buffer> {
    let partition = Partition::new(rows.len() / width.max(1), width, usize::MAX);
    partition.map_threads(partition.chunks(), |chunks| {
        let mut sums = Buffer::zeros(width);
        chunks.into_iter().for_each(|chunk| add_column_sums(&mut sums, chunk.slice(rows, width)));
        sums
    })
}
