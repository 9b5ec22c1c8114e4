//! Tensors whose dimensions are types, and a typed reference implementation of the transformer.
//!
//! A signature says what a function does to every dimension. `cargo check` refuses layers that do not fit
//! together, and names the dimensions of your own model:
//!
//! ```compile_fail,E0308
//! use typed_transformer::prelude::*;
//! dims! { pub Batch; pub SrcLen; pub TgtLen; pub EmbedDim = 8; }
//!
//! type Sequence<Len> = Tensor<(Batch, Len, EmbedDim), f32, Cpu>;
//!
//! fn add(source: Sequence<SrcLen>, target: Sequence<TgtLen>) -> Result<Sequence<SrcLen>, OpError> {
//!     residual(source, target) // does not compile: `SrcLen` is not `TgtLen`
//! }
//! ```
//!
//! # Quick start
//!
//! A model, some training steps and their losses. Dimensions are declared once, and a model is a type that names them.
//!
//! ```
//! use typed_transformer::{prelude::*, train::{Adam, update}};
//!
//! dims! { VocabSize = 28; MaxLen = 16; EmbedDim = 32; NumHeads = 4; HeadDim = 8; HiddenDim = 64;
//!         NumLayers = 2; Batch; SeqLen <= MaxLen; } // the last two are known at run time
//!
//! struct Small;
//! impl Arch for Small { type NumHeads = NumHeads; type QKDim = HeadDim; type VODim = HeadDim;
//!                       type HiddenDim = HiddenDim; type Conventions = TypedTransformer; }
//! impl SingleStack for Small { type VocabSize = VocabSize; type MaxSeqLen = MaxLen;
//!                              type EmbedDim = EmbedDim; type NumLayers = NumLayers; }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut model = DecoderOnly::<Small>::build(&Cpu::seed_from_u64(0));
//!     let ids = TokenIds::from_ids(&[7, 4, 11, 11, 14], None, (Batch::new(1), SeqLen::new(5)?))?;
//!     let (inputs, labels) = ids.teacher_forcing(Fin::literal::<26>()); // token 26 starts the inputs
//!     let mut adam = Adam::default();
//!     for _ in 0..10 {
//!         let logits = model.forward(&inputs, model.recording())?;
//!         let loss = cross_entropy(logits, &labels, Reduction::MeanAll)?;
//!         println!("loss {:.3}", loss.array());
//!         update(&mut model, loss.backward()?, &mut adam, 1e-3, 1.0)?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Read on
//!
//! The crate is built on [dfdx 0.13](https://docs.rs/dfdx/0.13.0), whose tensors, tapes and devices can be used
//! beside it.
//!
//! - [`guide`] leads from an empty file to a trained model of your own.
//! - [`guide::training`] is a training run with all that it needs: epochs, validation, checkpoints, curves.
//! - [`guide::llama`] leads from a paper to a module, with a block of Llama.
//! - [`guide::pretrained`] loads published models. [`guide::porting`] ports one of `transformers` that the crate lacks.
//! - [`guide::annotated`] reads the crate beside the post *The Typed Transformer*, which it follows in names and order,
//!   section by section.
//! - [`guide::messages`] shows the error messages for 12 mistakes here, in plain dfdx and in candle.
//! - [`guide::comparison`] says what other systems check and when, and what they have that this crate does not.
//! - [`guide::ranks`] leads from one process to many, with MPI.
//! - [`guide::cuda`] is about GPUs and mixed precision.
//! - [`guide::reliability`] says what is promised about files, and how it is tested.
//!
//! # Modules
//!
//! A module uses only the modules above it in this table. Only [`nn`] and [`weights`] use each other: a layer
//! implements [`weights::Loadable`], and a file is loaded into a layer. The code that [`#[module]`](macro@module)
//! writes also names [`train::Recording`]. The kernels of [`backend`] are a crate of their own.
//!
//! | module | contents |
//! | --- | --- |
//! | [`dims`](mod@dims) | dimensions, their products and sums, relations between them |
//! | [`tokens`] | token ids and indices of other axes, checked once, when they are created |
//! | [`mask`] | which keys a query may see |
//! | [`backend`] | devices, and the kernels of operations on the CPU in `f32` |
//! | [`ranks`](mod@ranks) | processes that train together, and types for values that are replicated, sharded or summed over them |
//! | [`ops`] | operations: a signature that spells every dimension, and a definition in dfdx's operations, which runs where there is no kernel |
//! | [`nn`] | the layers of the post, and [`#[module]`](macro@module), which declares one |
//! | [`weights`] | loading and saving weights |
//! | [`models`] | whole systems, one file per post and per family of published models |
//! | [`train`] | optimizers, schedules, training steps, checkpoints |
//! | [`tensor_parallel`] | layers whose heads and hidden columns are divided among ranks |
//! | [`generate`] | decoding |
//! | [`plot`] | plots of models and training runs (feature `plot`) |
//!
//! # Cargo features
//!
//! | feature | adds | needs |
//! | --- | --- | --- |
//! | `plot`, the default | [`plot`] | |
//! | `tokenizers` | [`tokens::Tokenizer`] and [`tokens::ChatTemplate`]: text and chats for the models of HuggingFace | |
//! | `f16` | the dtype `AMP<f16>`, for mixed precision by [`train::master_gradients`] | |
//! | `mpi` | [`ranks`](mod@ranks) as processes | MPI and a C compiler |
//! | `cuda` | dfdx's device `Cuda` | the CUDA toolkit |
//! | `cudnn` | `cuda`, with cuDNN | cuDNN |
//!
//! # Errors
//!
//! A mistake that types can express does not compile. Every other mistake is an error value that names what is wrong,
//! such as the dimension, the token, the tensor or the file: [`dims::DimError`], [`tokens::TokenError`],
//! [`ops::OpError`], [`weights::LoadError`], [`weights::NameMapError`], [`weights::SaveError`], [`train::TrainError`],
//! [`train::ResumeError`], [`ranks::RanksError`], [`tensor_parallel::DistributedError`], [`generate::SamplingError`],
//! and with their features [`tokens::TokenizerError`], [`tokens::ChatTemplateError`] and [`plot::PlotError`].
//!
//! Every operation and every `forward` returns a `Result` with [`ops::OpError`]. [`ops`] names the errors that all have
//! in common, such as [`Device`](ops::OpError::Device) if the memory of a GPU is full; the sections *Errors* have the
//! other reasons. On a CPU, Rust's allocator ends the process if it gets no memory; [`ops::full`] and [`ops::zeros`]
//! return an error instead.

#![cfg_attr(docsrs, feature(doc_cfg))]

// The procedural macros write paths from the root of this crate.
extern crate self as typed_transformer;

pub mod backend;
pub mod dims;
#[doc(hidden)]
pub mod doctest;
mod error;
mod escape;
mod files;
pub mod generate;
pub mod guide;
mod internal;
pub mod mask;
mod model_tensors;
pub mod models;
pub mod nn;
pub mod ops;
#[cfg(feature = "plot")]
pub mod plot;
pub mod ranks;
mod real;
pub mod tensor_parallel;
pub mod tokens;
pub mod train;
pub mod weights;

pub use nn::module::module;
pub use ops::{einsum::einsum, rearrange::rearrange};
/// The version of `rand` whose traits [`Step::rng`](train::Step::rng), the devices and the initializations use.
pub use rand;

/// The imports of a model file. `Tape`, `Dim`, `ConstDim`, `Linear`, `add` and `mul` are not those of dfdx's prelude: a
/// file that imports both preludes and writes such a name says which it means, as by
/// `use typed_transformer::prelude::Tape`.
///
/// ```
/// #[allow(unused_imports)]
/// use dfdx::prelude::*;
/// use typed_transformer::prelude::*;
///
/// dims! { pub EmbedDim = 8; pub SeqLen = 3; pub Batch = 2; }
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// let y: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = residual(x.clone(), x)?;
/// # Ok::<(), OpError>(())
/// ```
pub mod prelude {
    pub use crate::{
        backend::{Backend, Tape},
        dims,
        dims::{
            AtMost, Const, ConstDim, DataDim, Dim, DimError, Divides, Even, LengthOf, LessThan, Product, Quotient,
            SameFactors, Sum, SumOf, along, axis,
        },
        einsum, local_dims,
        mask::{
            AttentionMask, CausalMask, MaskKind, NoMask, PadQueriesAndKeys, PadSourceKeys, PaddingMask, SlidingWindow,
            mk_cross_mask, mk_mask,
        },
        models::typed_transformer::TypedTransformer,
        module,
        nn::{
            Arch, CrossAttention, Decoder, DecoderLayer, DecoderOnly, Embedder, EmbeddingDecoder, EmbeddingEncoder,
            Encoder, EncoderLayer, EncoderOnly, FeedForward, GatedFeedForward, GroupedQuery, GroupedQueryAttention, LM,
            Layers, Linear, MHAttention, Norm, Output, SelfAttention, Seq2Seq, SingleStack,
        },
        ops::{
            AttentionOptions, AttentionScale, DisplayTensor, MaskFill, OpError, Real, Reduction, add, add_positions,
            argmax, attention, attention_weights, broadcast, concat, cross_entropy, embed, layer_norm,
            learned_positions, log_softmax_over, masked_mean, max_over, mean_over, merge_heads, mul,
            multi_head_attention, narrow, permute, rename, reshape, residual, rms_norm, scale, sinusoidal_positions,
            softmax_over, split, split_heads, sum_over, tensor,
        },
        rearrange,
        tokens::{Fin, Indices, LabelIds, TokenError, TokenIds},
        train::{Backpropagate, Record},
    };
    pub use dfdx::{
        nn::BuildModule,
        shapes::{ConstDim as _, HasShape, Shape},
        tensor::{
            AsArray as _, Cpu, CpuError, NoneTape, PutTape as _, SampleTensor as _, SplitTape as _, Tensor,
            TensorFrom as _, TensorFromVec as _, Trace as _, WithEmptyTape as _, ZerosTensor as _,
        },
        tensor_ops::{BroadcastTo as _, Device},
    };
}

/// The items that the macros expand to. Not for direct use.
#[doc(hidden)]
pub mod __private {
    pub use dfdx::{
        dtypes::Dtype,
        nn::{ModuleVisitor, TensorCollection},
        shapes::ConstDim as DfdxConstDim,
        tensor::{Cpu, Tensor},
        tensor_ops::Device,
    };
    pub use typed_transformer_macros::named_by_line;
    pub use typenum::{U1, UTerm};

    pub use crate::{
        dims::dim::name,
        dims::local::LocalDim,
        internal::ModelDevice,
        nn::module::{ParamShape, child_path},
        ops::{Over, Rearrangement, repeated, summed},
    };
}

/// The programs in the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
