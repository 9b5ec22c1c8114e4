//! Matrix products. Large ones run in gemm. Few rows are products of contiguous rows. Attention has a register-blocked
//! product.

mod contraction;
mod few_rows;
mod gemm;
mod matrix;
mod register_blocked;
mod rows;
mod small;
mod transpose;

pub use contraction::{StridedAxis, contract};
pub use few_rows::{add_few_rows, matmul_few_rows};
pub use gemm::matmul;
pub use matrix::Matrix;
pub use register_blocked::{Extent, multiply};
pub use rows::{add_column_sums, fill_rows};
pub use transpose::transpose_copy;
