//! The kernels of single operations. A file has the arithmetic on slices (`x.forward(out, saved, input)`,
//! `x.backward(d_input, d_weight, d_out, saved)`), and a function `…_kernel` that runs it forward and pairs
//! the output with its backward pass. Only `record_kernel` touches the tape.

mod activation;
pub mod attention;
mod contraction;
mod cross_entropy;
mod embedding;
mod linear;
mod norm;
mod optimizer;
mod positions;
mod residual;

pub use activation::{activation_forward, activation_forward_with_derivative};
pub use contraction::contraction_kernel;
pub use cross_entropy::cross_entropy_kernel;
pub use embedding::embedding_kernel;
pub use linear::{Linear, LinearGradient, linear_kernel};
pub use norm::{Norm, NormGradient, NormSaved, norm_kernel};
pub use optimizer::{AdamStep, SgdStep, sum_of_squares, sum_of_squares_f32};
pub use positions::positions_kernel;
pub use residual::residual_kernel;
