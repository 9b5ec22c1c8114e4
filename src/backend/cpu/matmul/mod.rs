//! Matrix products: gemm for contiguous rows, a register-blocked product for vectors.

mod gemm;
mod interleaved;
mod layout;
mod matrix;
mod register_blocked;

pub use layout::{Layout, interleaved_if_full};
pub use matrix::Matrix;
pub use register_blocked::{Extent, SimdMatrix, multiply};
