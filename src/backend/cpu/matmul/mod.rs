//! Matrix products. They run in gemm, with three exceptions: few rows of contiguous operands (`few_rows`), attention
//! (`register_blocked`), and the small products of a contraction over any axes (`small_contraction`).

mod contraction;
mod few_rows;
mod gemm;
mod matrix;
mod register_blocked;
mod rows;
mod small_contraction;
mod transpose;

pub use contraction::{StridedAxis, contract};
pub use few_rows::{add_few_rows, matmul_few_rows};
pub use gemm::matmul;
pub use matrix::Matrix;
pub use register_blocked::{Extent, multiply};
pub use rows::{add_column_sums, fill_rows};
pub use transpose::transpose_copy;
