//! Typed operations: functions whose signatures spell every dimension.
//!
//! A file holds an operation, or a few related ones: signature, definition by composing dfdx's operations,
//! documentation. The signature refuses a wrong call. The definitions are generic in every dimension, so the
//! compiler also refuses a wrong definition.
//!
//! Every operation comes twice, as in dfdx: `op` panics where `try_op` returns an [`OpError`].
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
//! | `E` | dtype of an element: `f32`, `f64`, `AMP<f16>` |
//! | `D` | device |
//! | `T` | tape: [`NoneTape`](dfdx::tensor::NoneTape) when only the result is wanted, [`OwnedTape`](dfdx::tensor::OwnedTape) when gradients are |

mod activation;
mod argmax;
mod arithmetic;
mod attention;
mod broadcast;
mod concat_split;
mod contraction;
mod cross_entropy;
mod describe;
mod dot;
mod dropout;
mod einsum;
mod embed;
mod heads;
mod layer_norm;
mod linear;
mod masked_mean;
mod multi_head_attention;
mod operand;
mod permute;
mod positions;
mod rearrange;
mod reduce;
mod rename;
mod reshape;
mod residual;
mod rms_norm;
mod scale;
mod stack;
mod views;

pub use activation::{Activation, Gelu, GeluErf, Relu};
pub use argmax::{argmax, try_argmax};
pub use arithmetic::{
    add, div, maximum, minimum, mul, sub, try_add, try_div, try_maximum, try_minimum, try_mul, try_sub,
};
pub use attention::{attention, attention_weights, try_attention, try_attention_weights};
pub use broadcast::{broadcast, try_broadcast};
pub use concat_split::{concat, narrow, split, try_concat, try_narrow, try_split};
pub use cross_entropy::{
    Reduction, cross_entropy, cross_entropy_with_label_smoothing, try_cross_entropy,
    try_cross_entropy_with_label_smoothing,
};
pub use describe::Describe;
pub use dot::{dot, try_dot};
pub use dropout::{DropoutSeed, dropout, try_dropout};
#[doc(hidden)]
pub use einsum::{Over, Rank};
pub use embed::{embed, try_embed};
pub use heads::{merge_heads, split_heads, try_merge_heads, try_split_heads};
pub use layer_norm::{layer_norm, try_layer_norm};
pub use linear::{linear, try_linear};
pub use masked_mean::{masked_mean, try_masked_mean};
pub use multi_head_attention::{multi_head_attention, try_multi_head_attention};
pub use operand::TensorOrRef;
pub use permute::{permute, try_permute};
pub use positions::{
    add_positions, learned_positions, sinusoidal_positions, try_add_positions, try_learned_positions,
    try_sinusoidal_positions,
};
pub(crate) use positions::{try_learned_positions_from, try_sinusoidal_positions_from};
#[doc(hidden)]
pub use rearrange::Rearrangement;
pub use reduce::{
    max_over, mean_over, softmax_over, sum_over, try_max_over, try_mean_over, try_softmax_over, try_sum_over,
};
pub use rename::{rename, try_rename};
pub use reshape::{reshape, try_reshape};
pub use residual::{residual, try_residual};
pub use rms_norm::{rms_norm, try_rms_norm};
pub use scale::{scale, try_scale};
pub use stack::{stack, try_stack};

pub(crate) use crate::error::{cast, device_error, dim_error, ensure_not_empty};
pub use crate::{
    backend::{ActivationKind, AttentionScale, MaskFill, NormKind},
    error::{OpError, Real},
};
