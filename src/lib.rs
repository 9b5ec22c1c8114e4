//! Tensors whose dimensions are types, and in them a typed reference implementation of the
//! transformer.
//!
//! Whoever reads a signature knows what the function does; whoever wires two layers wrongly is told
//! so by `cargo check`, in the words of their own model:
//!
//! ```compile_fail,E0308
//! use typed_transformer::prelude::*;
//! dims! { pub Batch; pub SrcLen; pub TgtLen; pub EmbedDim = 8; }
//!
//! fn add(source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>) {
//!     residual(source, target); // expected `SrcLen`, found `TgtLen`
//! }
//! ```
//!
//! The crate is built on [dfdx] 0.13: its tensors, its tapes and its devices stay usable beside
//! the ones here.
//!
//! [`guide`] goes from an empty file to a trained model of one's own, with the mistakes on the way.
//!
//! # The post, section by section
//!
//! The crate follows *The Typed Transformer* in names and order.
//!
//! | section of the post | here |
//! | --- | --- |
//! | Python typing preliminaries: `Fin`, `InputIDs` | [`tokens::Fin`], [`tokens::TokenIds`] |
//! | `Product` | [`dims::Product`]; named dimensions are declared by [`dims!`] |
//! | Embedder | [`nn::Embedder`], [`ops::embed`], [`ops::learned_positions`] |
//! | Multi-head attention | [`nn::MHAttention`], [`ops::split_heads`], [`ops::multi_head_attention`] |
//! | `InstanceSingleton`: what a module keeps to itself | [`nn::Arch`] |
//! | Masking: `NoMask`, `CausalMask`, `mk_mask` | [`mask`] |
//! | Self-attention | [`nn::SelfAttention`] |
//! | Feed forward | [`nn::FeedForward`] |
//! | Encoder block, stack, encoder | [`nn::EncoderLayer`], [`nn::Encoder`], [`nn::EmbeddingEncoder`] |
//! | Cross-attention | [`nn::CrossAttention`] |
//! | Decoder block, stack, decoder | [`nn::DecoderLayer`], [`nn::Decoder`], [`nn::EmbeddingDecoder`] |
//! | Encoder-decoder transformer: `Output`, `LM` | [`nn::Output`], [`nn::LM`], [`nn::Seq2Seq`] |
//! | Appendix: performance-oriented attention | [`ops::attention_weights`], [`ops::attention`] |
//! | Appendix: `LTE` | [`dims::AtMost`] |
//!
//! # Rooms
//!
//! A room uses only the rooms above it.
//!
//! | room | holds |
//! | --- | --- |
//! | [`dims`](mod@dims) | dimensions, their products, the relations between them |
//! | [`tokens`] | ids that are checked once, when they are made |
//! | [`mask`] | which positions a query may see |
//! | [`ops`] | operations: a signature that spells every dimension, a definition by dfdx's operations |
//! | [`backend`] | where a device replaces a definition by something faster |
//! | [`nn`] | the modules of the post, and [`module!`], which declares one |
//! | [`models`] | whole systems, one file for each post |
//! | [`weights`] | weights in files |
//! | [`train`] | losses, schedules, optimizers, and trainings that stop and go on |
//! | [`generate`] | decoding |
//! | [`plot`] | what a model is and learns, drawn |
//!
//! # Errors
//!
//! What types can rule out does not compile. What only a run can show is an error value that names
//! the dimension, the token, the tensor or the file: [`dims::DimError`], [`tokens::TokenError`],
//! [`ops::OpError`], [`weights::LoadError`], [`weights::NameMapError`], [`weights::SaveError`],
//! [`train::TrainError`], [`train::ResumeError`]. Every operation and `forward` has a `try_` form that
//! returns it, and a plain form that panics with its text.
//!
//! [`guide::messages`] shows what is said of a dozen mistakes, here, in plain dfdx and in candle.
//! [`guide::comparison`] says what other systems check and when, and what they have that this crate has
//! not. [`guide::cuda`] is about GPUs and mixed precision.

pub mod backend;
pub mod dims;
#[doc(hidden)]
pub mod doctest;
mod error;
pub mod generate;
pub mod guide;
pub mod mask;
pub mod models;
pub mod nn;
pub mod ops;
#[cfg(feature = "plot")]
pub mod plot;
pub mod tokens;
pub mod train;
pub mod weights;

/// What a model file needs, and nothing that clashes with dfdx's own prelude.
///
/// ```
/// #[allow(unused_imports)]
/// use dfdx::prelude::*;
/// use typed_transformer::prelude::*;
///
/// dims! { pub EmbedDim = 8; pub SeqLen = 3; pub Batch = 2; }
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// let y: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = residual(x.clone(), x);
/// ```
pub mod prelude {
    pub use crate::{
        backend::Backend,
        dims,
        dims::{
            AtMost, Const, ConstDim, Dim, DimError, Divides, EqualProducts, Even, LessThan, Product,
            Quotient, Sum, SumOf, along, axis,
        },
        local_dims,
        mask::{
            AttentionMask, CausalMask, MaskKind, NoMask, PadQueriesAndKeys, PadSourceKeys, PaddingMask,
            mk_cross_mask, mk_mask,
        },
        models::typed_transformer::TypedTransformer,
        module,
        nn::{
            Arch, CrossAttention, Decoder, DecoderLayer, DecoderOnly, Embedder, EmbeddingDecoder,
            EmbeddingEncoder, Encoder, EncoderLayer, EncoderOnly, FeedForward, LM, MHAttention, Norm, Output,
            SelfAttention, Seq2Seq, SingleStack,
        },
        ops::{
            AttentionScale, Describe, MaskFill, OpError, Real, Reduction, add_positions, attention,
            attention_weights, broadcast, concat, cross_entropy, embed, layer_norm, learned_positions,
            masked_mean, max_over, mean_over, merge_heads, multi_head_attention, narrow, permute, reshape,
            residual, rms_norm, sinusoidal_positions, softmax_over, split, split_heads, sum_over,
        },
        tokens::{Fin, TokenError, TokenIds},
    };
    pub use dfdx::{
        nn::BuildModule,
        shapes::{HasShape, Shape},
        tensor::{
            AsArray, Cpu, CpuError, NoneTape, OwnedTape, PutTape, SplitTape, Tape, Tensor, TensorFrom,
            TensorFromVec, Trace, WithEmptyTape, ZerosTensor,
        },
        tensor_ops::{Backward, BroadcastTo, Device},
    };
}

/// What the macros expand to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use dfdx::{
        dtypes::Dtype,
        nn::{ModuleVisitor, TensorCollection, TensorOptions},
        shapes::ConstShape,
        tensor::Tensor,
        tensor_ops::Device,
    };
    pub use typenum::{U1, UTerm};
}

/// The programs in the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
