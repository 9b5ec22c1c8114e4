//! The modules of *The Typed Transformer*.
//!
//! In the order of the post: [`Embedder`], [`MHAttention`], [`SelfAttention`], [`FeedForward`],
//! [`EncoderLayer`], [`Encoder`], [`EmbeddingEncoder`], [`CrossAttention`], [`DecoderLayer`],
//! [`Decoder`], [`EmbeddingDecoder`], [`LM`]. [`EncoderLayer`] is an alias of [`Block`], and [`Encoder`] of
//! [`BlockStack`].
//!
//! [`GroupedQueryAttention`] and [`GatedFeedForward`] are the sublayers of later models such as Llama.
//!
//! Every layer is composed of [`ops`](crate::ops): its `try_forward` is its formula.
//!
//! The type parameters of a module are the dimensions that its callers see. Its inner dimensions come from an
//! [`Arch`], and its conventions from [`Conventions`].

mod arch;
mod autoregressive;
mod block;
mod block_stack;
mod cache;
mod cache_capacity;
mod cached_heads;
mod cross_attention;
mod decoder;
mod decoder_layer;
mod decoder_only;
mod embedder;
mod embedding;
mod embedding_decoder;
mod embedding_encoder;
mod feed_forward;
mod gated_feed_forward;
mod grouped_query_attention;
pub mod init;
mod key_value_cache;
mod layer_norm;
mod linear;
mod lm;
mod lm_head;
mod lora;
pub(crate) mod module;
mod multi_head_attention;
mod norm;
mod norm_placement;
mod self_attention;
mod width_scale;

pub use crate::ops::NormKind;
pub(crate) use arch::rotary;
pub use arch::{
    Arch, Conventions, HasPositionsFor, Learned, NoPositions, PositionKind, PositionsFor, PositionsInHeads,
    RotaryPositions, Sinusoidal,
};
pub(crate) use autoregressive::try_last;
pub use autoregressive::{Autoregressive, EncodedLM};
pub use block::{Block, EncoderLayer};
pub use block_stack::{BlockStack, Encoder};
pub use cache::{Cache, DecoderCache};
pub use cache_capacity::CacheCapacity;
pub use cached_heads::{CachedHeads, Heads};
pub use cross_attention::CrossAttention;
pub use decoder::Decoder;
pub use decoder_layer::DecoderLayer;
pub(crate) use decoder_layer::target_padding;
pub(crate) use decoder_only::padding_mask;
pub use decoder_only::{DecoderOnly, EncoderOnly, SingleStack};
pub use embedder::Embedder;
pub use embedding::Embedding;
pub use embedding_decoder::EmbeddingDecoder;
pub use embedding_encoder::EmbeddingEncoder;
pub use feed_forward::FeedForward;
pub use gated_feed_forward::GatedFeedForward;
pub use grouped_query_attention::{
    GroupedHeads, GroupedKeyValueCache, GroupedQuery, GroupedQueryAttention, KeyValueArch,
};
pub use key_value_cache::{KeyValueCache, Keys, Values};
pub(crate) use key_value_cache::{KeysAndValues, WithPast};
pub use layer_norm::LayerNorm;
pub use linear::{AttentionProjection, FeedForwardProjection, Linear, Projection, ProjectionRule};
pub use lm::{AttentionWeights, LM, Output, Seq2Seq};
pub use lm_head::LmHead;
pub use lora::{Lora, LowRank};
pub use module::{Module, Summary, SummaryRow};
pub use multi_head_attention::MHAttention;
pub use norm::Norm;
pub(crate) use norm::{try_optional_norm, try_residual_norm};
pub use norm_placement::NormPlacement;
pub use self_attention::SelfAttention;
pub use width_scale::WidthScale;
