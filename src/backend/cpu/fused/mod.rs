//! Whole sublayers as one kernel: norm, projections, attention or activation, and residual. A kernel works on
//! chunks that stay in the cache.

mod attention;
mod feed_forward;
mod projections;
mod residual_norm;

pub use attention::attention_sublayer_kernel;
pub use feed_forward::feed_forward_kernel;
pub use projections::Projections;
pub use residual_norm::ResidualNorm;
