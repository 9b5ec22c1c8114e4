//! The modules of *The Typed Transformer*, one file each.
//!
//! In the order of the post: [`Embedder`], [`MHAttention`], [`SelfAttention`], [`FeedForward`],
//! [`EncoderLayer`], [`Encoder`], [`EmbeddingEncoder`], [`CrossAttention`], [`DecoderLayer`],
//! [`Decoder`], [`EmbeddingDecoder`], [`LM`]. What callers must know is a type parameter of a module;
//! what is its own business it takes from an [`Arch`], and its conventions from a [`Conventions`].

mod arch;
mod block;
mod cache;
mod cross_attention;
mod decoder;
mod decoder_layer;
mod decoder_only;
mod embedder;
mod embedding;
mod embedding_decoder;
mod embedding_encoder;
mod encoder;
mod encoder_layer;
mod feed_forward;
pub mod init;
mod linear;
mod lm;
mod logit;
mod module;
mod multi_head_attention;
mod norm;
mod self_attention;
mod stack;

pub use crate::ops::NormKind;
pub use arch::{
    Arch, Conventions, HasPositionsFor, Learned, NormPlacement, PositionKind, PositionsFor, Sinusoidal,
    WidthScale,
};
pub use block::Block;
pub use cache::{Cache, DecoderCache, KeyValueCache, Keys, Values};
pub use cross_attention::CrossAttention;
pub use decoder::Decoder;
pub use decoder_layer::DecoderLayer;
pub use decoder_only::{DecoderOnly, EncoderOnly, SingleStack};
pub use embedder::Embedder;
pub use embedding::Embedding;
pub use embedding_decoder::EmbeddingDecoder;
pub use embedding_encoder::EmbeddingEncoder;
pub use encoder::Encoder;
pub use encoder_layer::EncoderLayer;
pub use feed_forward::FeedForward;
pub use linear::{AttentionProjection, BiasRule, FeedForwardProjection, Linear, Projection};
pub use lm::{AttentionWeights, LM, Output, Seq2Seq};
pub use logit::LmHead;
pub use module::{Module, Summary, SummaryRow, join};
pub use multi_head_attention::MHAttention;
pub use norm::Norm;
pub(crate) use norm::try_residual_norm;
pub use self_attention::SelfAttention;
pub use stack::BlockStack;
