//! Typed operations: functions whose signatures spell every dimension.
//!
//! Each file holds one operation: its signature, its definition by composing dfdx's operations, its
//! documentation. A wrong call is refused by the signature, and because the definitions are generic
//! in every dimension, so is a wrong definition.
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
mod attention;
mod broadcast;
mod concat_split;
mod cross_entropy;
mod describe;
mod dropout;
mod embed;
mod heads;
mod layer_norm;
mod linear;
mod masked_mean;
mod multi_head_attention;
mod norm_kind;
mod permute;
mod positions;
mod reduce;
mod reshape;
mod residual;
mod rms_norm;
mod scale;
mod sum_of_values;

pub use activation::{Activation, ActivationKind, Gelu, GeluErf, Relu};
pub use argmax::{argmax, try_argmax};
pub use attention::{
    AttentionScale, MaskFill, attention, attention_weights, try_attention, try_attention_weights,
};
pub use broadcast::{broadcast, try_broadcast};
pub use concat_split::{concat, narrow, split, try_concat, try_narrow, try_split};
pub use cross_entropy::{
    Reduction, cross_entropy, cross_entropy_with_label_smoothing, try_cross_entropy,
    try_cross_entropy_with_label_smoothing,
};
pub(crate) use cross_entropy::{check_labels, weights};
pub use describe::Describe;
pub use dropout::{DropoutSeed, dropout, try_dropout};
pub use embed::{embed, try_embed};
pub use heads::{merge_heads, split_heads, try_merge_heads, try_split_heads};
pub use layer_norm::{layer_norm, try_layer_norm};
pub use linear::{linear, try_linear};
pub use masked_mean::{masked_mean, try_masked_mean};
pub(crate) use multi_head_attention::{check_attention, check_attention_of};
pub use multi_head_attention::{multi_head_attention, try_multi_head_attention};
pub use norm_kind::NormKind;
pub use permute::{permute, try_permute};
pub(crate) use positions::check_positions;
pub use positions::{
    add_positions, learned_positions, sinusoidal_positions, try_add_positions, try_learned_positions,
    try_sinusoidal_positions,
};
pub(crate) use positions::{try_rows, try_sinusoids};
pub use reduce::{
    max_over, mean_over, softmax_over, sum_over, try_max_over, try_mean_over, try_softmax_over, try_sum_over,
};
pub use reshape::{reshape, try_reshape};
pub(crate) use residual::check_residual;
pub use residual::{residual, try_residual};
pub use rms_norm::{rms_norm, try_rms_norm};
pub use scale::{scale, try_scale};
pub use sum_of_values::{sum_of_values, try_sum_of_values};

use crate::dims::DimError;
use dfdx::{dtypes::Dtype, shapes::Shape};
use std::fmt::Display;

/// A floating-point element: `f32` or `f64`, and with the feature `f16` dfdx's `AMP<f16>`, mixed
/// precision.
///
/// ```
/// use typed_transformer::prelude::*;
/// fn half<E: Real>(x: E) -> E {
///     x / (E::one() + E::one())
/// }
/// assert_eq!((half(3f32), half(3f64)), (1.5, 1.5));
/// ```
pub trait Real: Dtype + num_traits::Float {}
impl<E: Dtype + num_traits::Float> Real for E {}

/// A constant as an element.
pub(crate) fn real<E: Real>(value: f64) -> E {
    <E as num_traits::NumCast>::from(value).unwrap_or_else(E::nan)
}

/// What can go wrong in an operation whose types fit.
///
/// ```
/// use typed_transformer::{ops::{OpError, try_dropout}, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().zeros();
/// let error = try_dropout(x, 1.5).unwrap_err();
/// assert_eq!(error, OpError::DropoutRate { rate: 1.5 });
/// assert_eq!(
///     error.to_string(),
///     "dropout: a rate must be at least 0 and less than 1, but it is 1.5",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpError {
    /// Two run-time dimensions of one name have different sizes.
    #[error("{op}: {source}")]
    Dim {
        /// The operation.
        op: &'static str,
        /// The dimension and both sizes.
        source: DimError,
    },
    /// A run-time dimension has another size in one shape than in the other.
    #[error("{op}: {from} does not fit {to}")]
    Shape {
        /// The operation.
        op: &'static str,
        /// The shape that came.
        from: String,
        /// The shape that it was to fit.
        to: String,
    },
    /// A part of an axis is not inside it.
    #[error("{op}: {part} from {start} on is not inside {whole}")]
    Range {
        /// The operation.
        op: &'static str,
        /// The part, with its size.
        part: String,
        /// Its first place.
        start: usize,
        /// The axis, with its size.
        whole: String,
    },
    /// There would be no elements to compute with, which dfdx's operations do not take.
    #[error("{op}: {dims} has no elements")]
    Empty {
        /// The operation.
        op: &'static str,
        /// The shape.
        dims: String,
    },
    /// A probability of dropout is not one.
    #[error("dropout: a rate must be at least 0 and less than 1, but it is {rate}")]
    DropoutRate {
        /// The rate.
        rate: f64,
    },
    /// A share of label smoothing is not one.
    #[error("cross-entropy: a label is smoothed by 0 to 1, but not by {smoothing}")]
    Smoothing {
        /// The share.
        smoothing: f64,
    },
    /// A model's output is not a number, so nothing can be said of it.
    #[error("{op}: no token has a logit that is a number above -inf")]
    NotANumber {
        /// The operation.
        op: &'static str,
    },
    /// The gradients of a model are not finite, so it cannot be updated by them.
    #[error("update: the norm of the gradients is {norm}")]
    Gradient {
        /// Their norm.
        norm: f64,
    },
    /// The device failed, for lack of memory say.
    #[error("{op}: {message}")]
    Device {
        /// The operation.
        op: &'static str,
        /// What the device said.
        message: String,
    },
}

/// Names the operation in which dimensions did not match.
pub(crate) fn mismatch(op: &'static str) -> impl Fn(DimError) -> OpError {
    move |source| OpError::Dim { op, source }
}

/// Refuses a shape without elements.
pub(crate) fn not_empty<Dims: Shape>(op: &'static str, dims: &Dims) -> Result<(), OpError> {
    if dims.num_elements() == 0 {
        return Err(OpError::Empty { op, dims: format!("{dims:?}") });
    }
    Ok(())
}

/// Names the operation in which the device failed.
pub(crate) fn failed<Error: Display>(op: &'static str) -> impl Fn(Error) -> OpError {
    move |error| OpError::Device { op, message: error.to_string() }
}
