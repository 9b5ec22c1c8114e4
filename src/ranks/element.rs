use super::RanksError;
use crate::error::Real;
use bytemuck::Pod;
use num_traits::NumCast;

/// An element that the ranks can send to each other and sum: `f32` or `f64`.
///
/// ```
/// use typed_transformer::{ranks, ranks::{Element, Partial, Ranks, RanksError}};
/// ranks! { pub World; }
/// fn total<E: Element>(term: E, ranks: &Ranks<World>) -> Result<E, RanksError> {
///     Ok(*Partial::<E, World>::term(term).all_reduce(ranks)?)
/// }
/// assert_eq!(Ranks::<World>::in_threads(2, |ranks| total(1.5f32, ranks)), [Ok(3.0), Ok(3.0)]);
/// ```
pub trait Element: Real + Pod {}
impl Element for f32 {}
impl Element for f64 {}

/// A collective operation on elements of any dtype, one for `f32` and one for `f64`. Shorter elements travel as `f32`.
pub(crate) fn exchange<E: Real>(
    elements: Vec<E>,
    singles: impl FnOnce(Vec<f32>) -> Result<Vec<f32>, RanksError>,
    doubles: impl FnOnce(Vec<f64>) -> Result<Vec<f64>, RanksError>,
) -> Result<Vec<E>, RanksError> {
    fn convert<From: Real, To: Real>(elements: Vec<From>) -> Vec<To> {
        elements.into_iter().map(|element| NumCast::from(element).unwrap_or_else(To::nan)).collect()
    }
    match size_of::<E>() == size_of::<f64>() {
        true => doubles(convert(elements)).map(convert),
        false => singles(convert(elements)).map(convert),
    }
}
