//! The layers that a block is built of, besides attention.

mod embedding;
mod feed_forward;
mod linear;
mod norm;

pub use embedding::{Embedding, LmHead};
pub use feed_forward::{FeedForward, GatedFeedForward};
pub use linear::{AttentionProjection, FeedForwardProjection, Linear, Lora, LowRank, Projection, ProjectionRule};
pub use norm::{LayerNorm, Norm};
pub(crate) use norm::{optional_norm, residual_norm, sublayer_input};
