//! Matrix products. Large ones run in gemm. Few rows are products of contiguous rows. Interleaved rows and blocks of
//! attention have a register-blocked product.

mod contraction;
mod few_rows;
mod gemm;
mod interleaved;
mod layout;
mod matrix;
mod register_blocked;
mod rows;
mod small;

pub use contraction::{StridedAxis, contract};
pub use few_rows::matmul_few_rows;
pub use gemm::matmul;
pub use layout::{Layout, interleaved_if_half_full};
pub use matrix::Matrix;
pub use register_blocked::{Extent, SimdMatrix, multiply};
pub use rows::{add_column_sums, fill_rows, transpose_copy};
