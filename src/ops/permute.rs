use super::{OpError, Real, device_error};
use crate::dims::PermutationOf;
use dfdx::{
    shapes::{Axes, Shape},
    tensor::{Tape, Tensor},
    tensor_ops::{Device, PermuteTo},
};
use typed_transformer_macros::panicking;

/// PermutationOf the axes into those of the result, which is named: `(A, B, C) -> (C, A, B)`, say.
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let columns: Tensor<(EmbedDim, SeqLen), f32, Cpu> = permute(x);
/// assert_eq!(columns.as_vec(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// ```
#[panicking]
pub fn try_permute<Dims, To: Shape, Order: Axes, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<To, E, D, T>, OpError>
where
    Dims: PermutationOf<To, Order>,
{
    input.try_permute().map_err(device_error("permute"))
}
