//! Whole sublayers as one kernel: norm, projections, attention or activation, and residual, for as many rows
//! at a time as stay in the cache.

mod attention;
mod feed_forward;
mod residual_norm;

pub use attention::{Projections, record_attention_sublayer};
pub use feed_forward::record_feed_forward;
pub use residual_norm::ResidualNorm;
