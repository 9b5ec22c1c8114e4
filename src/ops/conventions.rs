//! The conventions that a kernel is told as values. The CPU's kernels define them.

/// How an [attention](crate::ops::attention()) hides a key. [`attention_weights`](crate::ops::attention_weights) shows
/// both kinds side by side.
///
/// ```
/// use typed_transformer::{nn::Conventions, ops::MaskFill, prelude::TypedTransformer};
/// assert_eq!(TypedTransformer::MASK_FILL, MaskFill::MinValue);
/// ```
pub use typed_transformer_cpu::MaskFill;
/// How a model normalizes: by [`layer_norm`](crate::ops::layer_norm()) or by [`rms_norm`](crate::ops::rms_norm()).
///
/// ```
/// use typed_transformer::{nn::{Conventions, NormKind}, prelude::TypedTransformer};
/// assert_eq!(TypedTransformer::NORM, NormKind::LayerNorm);
/// ```
pub use typed_transformer_cpu::NormKind;
