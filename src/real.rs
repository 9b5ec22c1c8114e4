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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dtype that operations compute with",
    label = "`{Self}` is not known to be `f32` or `f64`",
    note = "in generic code a dtype has the bound `Real`: `fn f<E: Real, D: Backend<E>>`",
    note = "the elements of a tensor are one list of floats: `1.0` for `1`, and `rows.concat()` for a list of rows"
)]
pub trait Real: Dtype + num_traits::Float {}
#[diagnostic::do_not_recommend]
impl<E: Dtype + num_traits::Float> Real for E {}

/// A constant as an element.
pub(crate) fn cast<E: Real>(value: f64) -> E {
    <E as num_traits::NumCast>::from(value).unwrap_or_else(E::nan)
}

/// [`cast`] of each element.
pub(crate) fn cast_all<E: Real>(values: &[f64]) -> Vec<E> {
    values.iter().map(|value| cast(*value)).collect()
}
