//! The kernels of single operations. Each file has the arithmetic on slices (`x.forward(out, saved, input)`,
//! `x.backward(d_input, d_weight, d_out, saved)`), and a function that records it on the tape.

mod activation;
pub mod attention;
mod cross_entropy;
mod embedding;
mod linear;
mod norm;
mod positions;
mod residual;

pub use activation::{activation_forward, activation_forward_with_derivative};
pub use cross_entropy::record_cross_entropy;
pub use embedding::record_embedding;
pub use linear::{LinearGradient, LinearWeights, record_linear};
pub use norm::{Norm, NormGradient, NormSaved, record_norm};
pub use positions::record_positions;
pub use residual::record_residual;
