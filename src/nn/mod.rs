//! The modules of *The Typed Transformer*.
//!
//! The modules in the order of the post: [`Embedder`], [`MHAttention`], [`SelfAttention`], [`FeedForward`],
//! [`EncoderLayer`], [`Encoder`], [`EmbeddingEncoder`], [`CrossAttention`], [`DecoderLayer`], [`Decoder`],
//! [`EmbeddingDecoder`], [`LM`]. [`EncoderLayer`] is an alias of [`Block`], and [`Encoder`] of [`BlockStack`].
//!
//! [`GroupedQueryAttention`] and [`GatedFeedForward`] are the sublayers of later models such as Llama;
//! [`LatentAttention`] is that of DeepSeek-V2 and V3.
//!
//! | in `src/nn` | is |
//! | --- | --- |
//! | `transformer` | blocks and stacks of them, and the models: encoder, decoder, both; what decodes token after token |
//! | `attention` | multi-head, grouped-query and latent attention; self-attention and cross-attention, with residual and norm |
//! | `layers` | linear maps, norms, embeddings, feed-forward layers |
//! | `cache` | the keys and values of earlier positions |
//! | `conventions` | what a model decides for all its layers: [`Arch`], [`Conventions`], positions |
//! | `module` | [`#[module]`](macro@crate::module) and [`Module`] |
//! | `precision` | how weights are stored and multiplied: [`FullPrecision`], [`MixedBf16`], [`Bf16`], [`F16`], [`Q8`], [`Q8Rows`] |
//! | `group.rs` | who computes a layer: one process, or ranks that divide it |
//! | `init.rs` | the numbers with which parameters begin |
//!
//! Every layer is composed of [`ops`](crate::ops): its `forward` is its formula.
//!
//! The type parameters of a module are the dimensions that its callers see. Its inner dimensions come from an
//! [`Arch`], and its conventions from [`Conventions`].

mod attention;
mod cache;
mod conventions;
pub(crate) mod group;
pub mod init;
mod layers;
pub(crate) mod module;
mod precision;
mod transformer;

pub use crate::ops::norms::NormKind;
pub use attention::*;
pub use cache::*;
pub use conventions::*;
pub use layers::*;
#[doc(hidden)]
pub use module::{ForEachLayer, HasParameters, ModelOrRef, OwnsParameters, PartOfModel};
pub use module::{Layers, LayersIter, Module, Summary, SummaryRow};
pub use precision::{
    Bf16, F16, FullPrecision, MixedBf16, Packed, PackedPrecision, Precision, Q8, Q8Rows, Trainable, Weight,
    WithPrecision,
};
pub use transformer::*;
