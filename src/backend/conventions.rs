//! The conventions that a kernel is told as values. The CPU's kernels define them.

/// How a kernel is told an [`Activation`](crate::ops::Activation).
///
/// ```
/// use typed_transformer::{backend::ActivationKind, ops::{Activation, Gelu}};
/// assert_eq!(<Gelu as Activation>::KIND, Some(ActivationKind::Gelu));
/// ```
pub use typed_transformer_cpu::ActivationKind;
/// An axis of the operands or the output of [`Backend::contraction_kernel`](super::Backend::contraction_kernel).
///
/// ```
/// use typed_transformer::backend::ContractionAxis;
/// // The axes of the matrix product `einsum!(left: (Rows, Inner), right: (Inner, Columns) -> (Rows, Columns))`.
/// let rows = ContractionAxis { size: 2, left: Some(0), right: None, is_in_output: true };
/// let inner = ContractionAxis { size: 3, left: Some(1), right: Some(0), is_in_output: false };
/// let columns = ContractionAxis { size: 4, left: None, right: Some(1), is_in_output: true };
/// # let _ = [rows, inner, columns];
/// ```
pub use typed_transformer_cpu::ContractionAxis;
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
