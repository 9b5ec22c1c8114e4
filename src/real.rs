//! The elements that operations compute with.

use dfdx::dtypes::Dtype;

/// A floating-point element: `f32`, `f64`, and with the feature `f16` dfdx's mixed precision `AMP<f16>`.
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
pub(crate) fn cast<E: Real>(value: f64) -> E {
    <E as num_traits::NumCast>::from(value).unwrap_or_else(E::nan)
}

/// [`cast`] of each element.
pub(crate) fn cast_all<E: Real>(values: &[f64]) -> Vec<E> {
    values.iter().map(|value| cast(*value)).collect()
}
