use super::{OpError, Real, device_error, ensure_not_empty};
use dfdx::{
    shapes::{HasShape, Rank0, Shape},
    tensor::{Tape, Tensor},
    tensor_ops::{Device, MeanTo},
};
use typed_transformer_macros::panicking;

/// The mean of all elements: `(..) -> ()`.
///
/// # Errors
/// [`OpError::Empty`] if there are no elements; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::mean, prelude::*};
/// dims! { pub EmbedDim = 2; pub SeqLen = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 6.0]);
/// assert_eq!(mean(x).array(), 3.0);
/// ```
#[panicking]
pub fn try_mean<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    const OP: &str = "mean";
    ensure_not_empty(OP, input.shape())?;
    input.try_mean().map_err(device_error(OP))
}
