//! Typed operations: functions whose signatures spell every dimension.
//!
//! A file holds an operation, or a few related ones: documentation, signature, the call of the kernel if there is one,
//! and the definition by composing dfdx's operations. The signature refuses a wrong call. The definitions are generic
//! in every dimension, so the compiler also refuses a wrong definition.
//!
//! On the CPU in `f32` an operation that has a kernel runs it, forward and backward, on all threads. Elsewhere it runs
//! its definition. Layers are composed of operations and have no kernels of their own, so a layer of yours runs like
//! one of [`nn`](crate::nn).
//!
//! [`attention`](attention()) takes heads that are split, and makes the scores a tensor. The kernel of
//! [`multi_head_attention`](multi_head_attention()) and of [`grouped_query_attention`](grouped_query_attention()), which
//! take heads side by side, needs memory that is linear in the length.
//!
//! An operation consumes its tensors and their tape. A value that is used twice is cloned; the clone records to the
//! same pass. A parameter is passed by reference.
//!
//! Every operation comes twice, as in dfdx: `op` panics where `try_op` returns an [`OpError`].
//!
//! Two macros make models that the crate does not have: [`einsum!`](crate::einsum!) contracts tensors by the names of
//! their axes, and [`rearrange!`](crate::rearrange!) moves, splits and merges axes. Tensors have up to 6 axes.
//!
//! One meaning for each letter, here and in [`nn`](crate::nn):
//!
//! | letter | meaning |
//! | --- | --- |
//! | `B` | batch |
//! | `S` | length of a sequence |
//! | `Q`, `K` | lengths of the query's and of the key's sequence |
//! | `H` | number of heads |
//! | `V` | size of a vocabulary |
//! | `M` | width of an embedding ("model dimension") |
//! | `W` | axis of ranks |
//! | `A` | architecture, in `nn` |
//! | `E` | dtype of an element: `f32`, `f64`, `AMP<f16>` |
//! | `D` | device |
//! | `T` | tape: [`NoneTape`](dfdx::tensor::NoneTape) when only the result is wanted, [`model.recording()`](crate::train::Recording) when gradients are |

mod activation;
mod alibi;
mod argmax;
mod arithmetic;
mod attention;
mod broadcast;
mod compare;
mod concat_split;
mod constants;
mod contraction;
mod cross_entropy;
mod cumsum;
mod describe;
mod dot;
mod dropout;
pub(crate) mod einsum;
mod embed;
mod gather;
mod grouped_query_attention;
mod heads;
mod kl_divergence;
mod labels;
mod layer_norm;
mod linear;
mod losses;
mod masked_mean;
mod mean;
mod multi_head_attention;
mod operand;
mod padding;
mod partial_cross_entropy;
mod patches;
mod permute;
mod positions;
mod ravel;
pub(crate) mod rearrange;
mod reduce;
mod relative_positions;
mod rename;
mod reshape;
mod residual;
mod rms_norm;
mod rotary_positions;
mod scale;
mod select;
mod slice;
mod stack;
mod top_k;
mod unnamed;
mod views;
mod where_;
mod windows;

pub use activation::{Activation, Gelu, GeluTanh, Relu, Sigmoid, Silu, Softplus, Tanh};
pub use alibi::{alibi, try_alibi};
pub use argmax::{argmax, try_argmax};
pub(crate) use arithmetic::try_arithmetic;
pub use arithmetic::{
    add, div, maximum, minimum, mul, sub, try_add, try_div, try_maximum, try_minimum, try_mul, try_sub,
};
pub(crate) use attention::check_attention;
pub use attention::{
    attention, attention_weights, attention_with_bias, try_attention, try_attention_weights, try_attention_with_bias,
};
pub use broadcast::{broadcast, try_broadcast};
pub use compare::{eq, ge, gt, le, lt, ne, try_eq, try_ge, try_gt, try_le, try_lt, try_ne};
#[doc(hidden)]
pub use concat_split::SplitPart;
pub use concat_split::{concat, narrow, split, try_concat, try_narrow, try_split};
pub use constants::{full, iota, one_hot, ones, try_full, try_iota, try_one_hot, try_ones, try_zeros, zeros};
pub use cross_entropy::{
    Reduction, cross_entropy, cross_entropy_with_label_smoothing, try_cross_entropy,
    try_cross_entropy_with_label_smoothing,
};
pub use cumsum::{cumsum, try_cumsum};
pub use describe::Describe;
pub use dot::{dot, try_dot};
pub(crate) use dropout::kept_elements;
pub use dropout::{DropoutSeed, dropout, try_dropout};
use dropout::{kept_factor, try_drop_others};
#[doc(hidden)]
pub use einsum::{NumAxes, Over};
pub use embed::{embed, try_embed};
#[doc(hidden)]
pub use gather::PlacesIn;
pub use gather::{gather, take, try_gather, try_take};
pub use grouped_query_attention::{
    grouped_query_attention, grouped_query_attention_with_bias, try_grouped_query_attention,
    try_grouped_query_attention_with_bias,
};
pub use heads::{merge_heads, split_heads, try_merge_heads, try_split_heads};
pub use kl_divergence::{kl_divergence, try_kl_divergence};
#[doc(hidden)]
pub use labels::FitsLogits;
pub use labels::{Labels, ShardedLabels};
pub use layer_norm::{layer_norm, try_layer_norm};
pub use linear::{linear, try_linear};
pub use losses::{binary_cross_entropy, mean_squared_error, try_binary_cross_entropy, try_mean_squared_error};
pub use masked_mean::{masked_mean, try_masked_mean};
pub use mean::{mean, try_mean};
pub(crate) use multi_head_attention::try_attend_with_kept;
pub use multi_head_attention::{
    multi_head_attention, multi_head_attention_with_bias, try_multi_head_attention, try_multi_head_attention_with_bias,
};
pub use operand::TensorOrRef;
pub use padding::Padding;
#[doc(hidden)]
pub use padding::{PadsLogits, PadsStart, WithoutLastOf};
pub use partial_cross_entropy::{partial_cross_entropy, try_partial_cross_entropy};
pub use patches::{PatchGrid, patches, try_patches};
pub use permute::{permute, try_permute};
pub use positions::{
    add_positions, learned_positions, sinusoidal_positions, try_add_positions, try_learned_positions,
    try_sinusoidal_positions,
};
pub(crate) use positions::{try_learned_positions_from, try_sinusoidal_positions_from};
pub use ravel::{ravel_multi_index, try_ravel_multi_index, unravel_index};
#[doc(hidden)]
pub use rearrange::Rearrangement;
pub use reduce::{
    log_softmax_over, max_over, mean_over, softmax_over, sum_over, try_log_softmax_over, try_max_over, try_mean_over,
    try_softmax_over, try_sum_over,
};
pub use relative_positions::{RelativeBuckets, relative_position_bias, try_relative_position_bias};
pub use rename::{rename, try_rename};
pub use reshape::{reshape, try_reshape};
pub use residual::{residual, try_residual};
pub use rms_norm::{rms_norm, try_rms_norm};
pub(crate) use rotary_positions::try_rotate_heads;
pub use rotary_positions::{Rotary, RotaryPairs, RotaryScaling, rotary_positions, try_rotary_positions};
pub use scale::{scale, try_scale};
pub use select::{select, try_select};
pub use slice::{slice, try_slice};
pub use stack::{stack, try_stack};
pub use top_k::{top_k, try_top_k};
pub use where_::{Mask, TensorOrNumber, try_where_, where_};
pub use windows::{try_windows, windows};

pub(crate) use crate::error::{cast, device_error, dim_error, ensure_not_empty};
pub use crate::{
    backend::{AttentionScale, MaskFill, NormKind},
    error::{OpError, Real},
};
