use crate::error::Real;
use bytemuck::Pod;

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
