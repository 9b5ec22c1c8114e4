//! Typed operations: functions whose signatures spell every dimension.
//!
//! A file holds the operations of one theme, each with its documentation, its signature, the call of the kernel if
//! there is one, and the definition by composing dfdx's operations. The signature refuses a wrong call. The definitions
//! are generic in every dimension, so the compiler also refuses a wrong definition.
//!
//! On the CPU in `f32` an operation that has a kernel runs it, forward and backward, on all threads. Elsewhere it runs
//! its definition. Layers are composed of operations and have no kernels of their own, so a layer of yours runs like
//! one of [`nn`](crate::nn).
//!
//! [`attention`](attention()) takes heads that are split, and needs all scores as one tensor.
//! [`multi_head_attention`](multi_head_attention()) and [`grouped_query_attention`](grouped_query_attention()) take the
//! heads side by side in one axis. Without bias and dropout their kernel needs memory that is linear in the length.
//!
//! An operation consumes its tensors and their tape. It borrows them if its result has no tape, as in a comparison,
//! `argmax` or `detach`. A value that is used twice is cloned. The clone of a tape that has recorded something records
//! to the same pass; two passes become one where their tensors meet. A parameter is passed by reference.
//!
//! Every operation returns a `Result`, whose error is an [`OpError`]: a program says `?` where it calls one. The
//! sections *Errors* leave out what they have in common: [`OpError::Device`] if the device fails, [`OpError::Dim`] or
//! [`OpError::Shape`] if a run-time dimension has two sizes, [`OpError::Empty`] if a tensor has no elements and the
//! operation needs some, and [`OpError::Range`] if a position is beyond `usize::MAX`.
//!
//! Two macros make models that the crate does not have: [`einsum!`](crate::einsum!) contracts tensors by the names of
//! their axes, and [`rearrange!`](crate::rearrange!) moves, splits and merges axes. Tensors have up to 6 axes.
//!
//! The letters, here and in [`nn`](crate::nn):
//!
//! | letter | meaning |
//! | --- | --- |
//! | `B` | batch, which [may be sharded](crate::dims::DataDim) |
//! | `S` | length of a sequence |
//! | `Q`, `K` | lengths of the query's and of the key's sequence; `K` of `gather`, `take`, `top_k`: chosen indices |
//! | `H` | number of heads |
//! | `V` | size of a vocabulary |
//! | `M` | width of an embedding ("model dimension") |
//! | `W` | axis of ranks; in an operation that takes a weight, the tape of the weight |
//! | `A` | architecture, in `nn` |
//! | `E` | dtype of an element: `f32`, `f64`, `AMP<f16>` |
//! | `D` | device |
//! | `P` | [precision of the weights](crate::nn::Precision), in `nn` |
//! | `T` | tape: [`NoneTape`](dfdx::tensor::NoneTape) when only the result is wanted, [`model.recording()`](crate::train::Recording) when gradients are |

mod activation;
mod arithmetic;
mod attention;
mod axes;
mod bfloat16;
pub(crate) mod collective;
mod concat_split;
mod constants;
mod contraction;
mod cross_entropy;
mod display;
mod dropout;
pub(crate) mod einsum;
mod gather;
mod labels;
mod linear;
mod losses;
mod multi_head_attention;
pub(crate) mod norms;
mod operand;
mod padding;
mod positions;
pub(crate) mod rearrange;
mod reduce;
mod rotary_positions;
mod sharded_batch;
mod slices;
mod unnamed;
mod views;
mod where_;

pub use activation::{Abs, Activation, Exp, Gelu, GeluTanh, Ln, Relu, Sigmoid, Silu, Softplus, Sqrt, Tanh};
pub(crate) use arithmetic::elementwise;
pub use arithmetic::{add, detach, div, maximum, minimum, mul, offset, residual, scale, sub};
pub use attention::{AttentionOptions, AttentionScale, attention, attention_weights};
pub use axes::{broadcast, flatten, permute, rename, reshape, unflatten};
pub use bfloat16::{linear_in_bf16, round_to_bf16};
#[doc(hidden)]
pub use concat_split::SplitPart;
pub use concat_split::{concat, split, stack, unstack};
#[doc(hidden)]
pub use constants::Elements;
pub use constants::{full, iota, normal, one_hot, tensor, zeros};
pub use cross_entropy::{Reduction, cross_entropy, cross_entropy_by_position, cross_entropy_with_label_smoothing};
pub use display::DisplayTensor;
pub use dropout::{DropoutSeed, dropout};
use dropout::{drop_others, dropout_by, kept_factor};
pub(crate) use dropout::{drops_elements, kept_elements};
#[doc(hidden)]
pub use einsum::{Over, repeated, summed};
#[doc(hidden)]
pub use gather::PlacesIn;
pub(crate) use gather::gather_runs;
pub use gather::{embed, gather, take};
#[doc(hidden)]
pub use labels::FitsLogits;
pub use labels::{Labels, LabelsByPosition, ShardedLabels};
pub(crate) use linear::{add_bias, linear_of_parts};
pub use linear::{conv1d, conv2d, linear};
pub use losses::{binary_cross_entropy, binary_cross_entropy_by_element, kl_divergence, mean_squared_error};
pub(crate) use multi_head_attention::attend;
pub use multi_head_attention::{grouped_query_attention, merge_heads, multi_head_attention, split_heads};
pub use norms::{layer_norm, log_softmax_over, rms_norm, softmax_over};
pub use operand::TensorOrRef;
pub use padding::{Padding, masked_mean};
#[doc(hidden)]
pub use padding::{PadsLogits, PadsStart, WithoutLastOf};
pub(crate) use positions::sinusoids;
pub use positions::{
    RelativeBuckets, add_positions, alibi, learned_positions, learned_positions_from, relative_position_bias,
    sinusoidal_positions, sinusoidal_positions_from,
};
#[doc(hidden)]
pub use rearrange::Rearrangement;
pub use rearrange::{PatchGrid, patches};
pub use reduce::{argmax, cumsum, max_over, mean, mean_over, sum_over, top_k};
pub(crate) use rotary_positions::rotate_heads;
pub use rotary_positions::{Rotary, RotaryPairs, RotaryScaling, rotary_positions};
pub use sharded_batch::{
    gather_batch, partial_cross_entropy, partial_cross_entropy_with_label_smoothing, partial_mean,
};
pub use slices::{narrow, select, slice, slice_last, windows};
pub(crate) use unnamed::{on_elements, reshape_to};
pub use views::NamedAxes;
#[doc(hidden)]
pub use views::Sizes;
#[doc(hidden)]
pub use where_::Comparand;
pub use where_::{Mask, TensorOrNumber, eq, ge, gt, le, lt, ne, where_};

pub use crate::error::OpError;
pub(crate) use crate::error::{device_error, dim_error, ensure_not_empty, ensure_positions, range_error};
pub use crate::real::Real;
pub(crate) use crate::real::{cast, cast_all};

/// How an [attention](crate::ops::attention()) hides a key. [`attention_weights`] shows both kinds side by side.
///
/// ```
/// use typed_transformer::{nn::Conventions, ops::MaskFill, prelude::TypedTransformer};
/// assert_eq!(TypedTransformer::MASK_FILL, MaskFill::MinValue);
/// ```
pub use typed_transformer_cpu::MaskFill;
