use super::RanksError;
use crate::error::Real;
use bytemuck::Pod;
use num_traits::NumCast;
use safetensors::Dtype;

/// An element that is written to files, and that ranks send to each other and sum: `f32` or `f64`.
///
/// ```
/// use typed_transformer::{ranks, ranks::{Element, Partial, Ranks, RanksError}};
/// ranks! { pub World; }
/// fn total<E: Element>(term: E, ranks: &Ranks<World>) -> Result<E, RanksError> {
///     Ok(*Partial::<E, World>::term(term).all_reduce(ranks)?)
/// }
/// assert_eq!(Ranks::<World>::in_threads(2, |ranks| total(1.5f32, ranks)), [Ok(3.0), Ok(3.0)]);
/// assert_eq!(f32::to_bytes(&[1.0, -2.0]), [0, 0, 128, 63, 0, 0, 0, 192]);
/// ```
pub trait Element: Real + Pod {
    /// The dtype in safetensors.
    const DTYPE: Dtype;

    /// The bytes of the elements in a file, each in little-endian order.
    fn to_bytes(elements: &[Self]) -> Vec<u8> {
        let mut bytes = bytemuck::cast_slice(elements).to_vec();
        swap_if_big_endian::<Self>(&mut bytes);
        bytes
    }
}
impl Element for f32 {
    const DTYPE: Dtype = Dtype::F32;
}
impl Element for f64 {
    const DTYPE: Dtype = Dtype::F64;
}

/// Changes elements between the order of the machine and that of a file.
pub(crate) fn swap_if_big_endian<E>(bytes: &mut [u8]) {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(size_of::<E>()).for_each(<[u8]>::reverse);
    }
}

/// A collective operation on elements of any dtype, one for `f32` and one for `f64`. Shorter elements travel as `f32`.
pub(crate) fn in_f32_or_f64<E: Real>(
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
