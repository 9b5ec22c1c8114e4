use super::{OpError, Real, device_error};
use crate::backend::{Backend, Fused, LinearParams, NotFused};
use crate::dims::{ConstDim, Dim};
use dfdx::{
    shapes::{Axes2, HasShape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, PermuteTo, TryAdd, TryMatMul},
};
use typed_transformer_macros::panicking;

/// `x Wᵀ + b`: a linear map of the vector at each position.
///
/// `(B, S, InDim), (OutDim, InDim), (OutDim) -> (B, S, OutDim)`
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::linear, prelude::*};
/// dims! { pub EmbedDim = 2; pub HiddenDim = 3; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0]);
/// let weight: Tensor<(HiddenDim, EmbedDim), f32, Cpu> =
///     device.tensor(vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
/// let y: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> = linear(x, &weight, None);
/// assert_eq!(y.as_vec(), [1.0, 2.0, 3.0]);
/// ```
#[panicking]
pub fn try_linear<B: Dim, S: Dim, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, InDim), E, D, T>,
    weight: &Tensor<(OutDim, InDim), E, D>,
    bias: Option<&Tensor<(OutDim,), E, D>>,
) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
    let input = match D::fused_linear(input, LinearParams { weight, bias })? {
        Fused(output) => return Ok(output),
        NotFused(input) => input,
    };
    let (batch, len, _) = *input.shape();
    let compute = || {
        let output = input.try_matmul(weight.retaped::<T>().try_permute::<_, Axes2<1, 0>>()?)?;
        let Some(bias) = bias else { return Ok(output) };
        let shape = (batch, len, OutDim::default());
        output.try_add(bias.retaped::<T>().try_broadcast_like::<_, Axes2<0, 1>>(&shape)?)
    };
    compute().map_err(device_error::<D::Err>("linear"))
}
