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
//! | `E` | dtype of an element: `f32`, `f64` |
//! | `D` | device |
//! | `T` | tape: [`NoneTape`](dfdx::tensor::NoneTape) when only the result is wanted, [`OwnedTape`](dfdx::tensor::OwnedTape) when gradients are |

mod activation;
mod attention;
mod cross_entropy;
mod dropout;
mod embed;
mod heads;
mod layer_norm;
mod linear;
mod most_likely;
mod multi_head_attention;
mod positions;
mod residual;
mod scale;

pub use activation::{Activation, Gelu, Relu};
pub use attention::{
    MaskedLogit, attention, attention_weights, try_attention, try_attention_weights,
};
pub use cross_entropy::{Average, cross_entropy, try_cross_entropy};
pub(crate) use cross_entropy::{check_labels, weights};
pub use dropout::{dropout, try_dropout};
pub use embed::{embed, try_embed};
pub use heads::{merge_heads, split_heads, try_merge_heads, try_split_heads};
pub use layer_norm::{layer_norm, try_layer_norm};
pub use linear::{linear, try_linear};
pub(crate) use most_likely::highest;
pub use most_likely::{most_likely, try_most_likely};
pub(crate) use multi_head_attention::check_attention;
pub use multi_head_attention::{multi_head_attention, try_multi_head_attention};
pub(crate) use positions::check_positions;
pub(crate) use positions::try_sinusoids;
pub use positions::{
    add_positions, learned_positions, sinusoidal_positions, try_add_positions,
    try_learned_positions, try_sinusoidal_positions,
};
pub(crate) use residual::check_residual;
pub use residual::{residual, try_residual};
pub use scale::{scale, try_scale};

use crate::dims::DimError;
use dfdx::dtypes::Dtype;
use rand_distr::uniform::SampleUniform;
use std::fmt::Display;

/// A floating-point element: `f32` or `f64`.
pub trait Real: Dtype + num_traits::Float + SampleUniform {}
impl<E: Dtype + num_traits::Float + SampleUniform> Real for E {}

/// A constant as an element.
pub(crate) fn real<E: Real>(value: f64) -> E {
    <E as num_traits::NumCast>::from(value).unwrap_or_else(E::nan)
}

/// What can go wrong in an operation whose types fit.
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
    /// A probability of dropout is not one.
    #[error("dropout: a rate must be at least 0 and less than 1, but it is {rate}")]
    Rate {
        /// The rate.
        rate: f64,
    },
    /// A model's output is not a number, so nothing can be said of it.
    #[error("{op}: every logit is NaN")]
    NotANumber {
        /// The operation.
        op: &'static str,
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

/// Names the operation in which the device failed.
pub(crate) fn failed<Error: Display>(op: &'static str) -> impl Fn(Error) -> OpError {
    move |error| OpError::Device {
        op,
        message: error.to_string(),
    }
}

/// The result, or a panic with the error's text.
#[track_caller]
pub(crate) fn or_panic<Value>(result: Result<Value, OpError>) -> Value {
    result.unwrap_or_else(|error| panic!("{error}"))
}
