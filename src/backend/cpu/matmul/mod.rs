//! gemm for large row-major products; a register-blocked product for interleaved rows and attention heads.

mod gemm;
mod interleaved;
mod layout;
mod matrix;
mod register_blocked;

pub use layout::{Layout, interleaved_if_half_full};
pub use matrix::Matrix;
pub use register_blocked::{Extent, SimdMatrix, multiply};
