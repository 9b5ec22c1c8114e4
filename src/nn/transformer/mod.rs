//! Blocks, stacks of blocks, and whole models: encoder, decoder, and both.

mod autoregressive;
mod block;
mod decoder;
mod decoder_only;
mod embedder;
mod embedding_decoder;
mod embedding_encoder;
mod lm;

pub use autoregressive::{Autoregressive, CacheOf, EncodedLM};
pub use block::{Block, BlockStack, Encoder, EncoderLayer};
pub(crate) use decoder::target_padding;
pub use decoder::{Decoder, DecoderLayer};
pub use decoder_only::{DecoderOnly, EncoderOnly, SingleStack};
pub use embedder::Embedder;
pub use embedding_decoder::EmbeddingDecoder;
pub use embedding_encoder::EmbeddingEncoder;
pub use lm::{AttentionWeights, LM, Output, Seq2Seq};
