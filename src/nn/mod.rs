//! The modules of *The Typed Transformer*, one file each.
//!
//! In the order of the post: [`Embedder`], [`MHAttention`], [`SelfAttention`], [`FeedForward`],
//! [`EncoderLayer`], [`Encoder`], [`EmbeddingEncoder`], [`CrossAttention`], [`DecoderLayer`],
//! [`Decoder`], [`EmbeddingDecoder`], [`LM`]. What callers must know is a type parameter of a module;
//! what is its own business it takes from an [`Arch`], and its conventions from a [`Style`].

mod arch;
mod cross_attention;
mod decoder;
mod decoder_layer;
mod embedder;
mod embedding;
mod embedding_decoder;
mod embedding_encoder;
mod encoder;
mod encoder_layer;
mod feed_forward;
pub mod init;
mod layer_norm;
mod linear;
mod lm;
mod module;
mod multi_head_attention;
mod self_attention;

pub use arch::{Arch, Embeds, Learned, PositionKind, PositionsOf, PowerOfWidth, Sinusoidal, Style};
pub use cross_attention::CrossAttention;
pub use decoder::Decoder;
pub use decoder_layer::DecoderLayer;
pub use embedder::Embedder;
pub use embedding::Embedding;
pub use embedding_decoder::EmbeddingDecoder;
pub use embedding_encoder::EmbeddingEncoder;
pub use encoder::Encoder;
pub use encoder_layer::EncoderLayer;
pub use feed_forward::FeedForward;
pub use layer_norm::LayerNorm;
pub use linear::{Linear, Projection};
pub use lm::{LM, Output, Seq2Seq};
pub use module::{Module, Summary, SummaryRow, join};
pub use multi_head_attention::MHAttention;
pub use self_attention::SelfAttention;
