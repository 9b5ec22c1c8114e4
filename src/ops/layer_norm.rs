use super::{NormKind, OpError, Real, device_error};
use crate::{
    backend::{Backend, NormParams},
    dims::{ConstDim, Dim, MaybeSharded},
};
use dfdx::{
    shapes::{Axes2, Axis, HasShape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, TryAdd, TryMul},
};
use typed_transformer_macros::panicking;

/// `(x - mean(x)) / √(var(x) + ε) · weight + bias`, mean and variance over the last dimension
/// ([Ba et al., 2016](https://arxiv.org/abs/1607.06450)).
///
/// `(B, S, M), (M), (M) -> (B, S, M)`; without a bias it is taken as zero.
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu> = device.tensor(vec![3.0, 7.0]);
/// let weight: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![1.0, 10.0]);
/// let bias: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![0.0, 5.0]);
/// assert_eq!(layer_norm(x, &weight, Some(&bias), 0.0).as_vec(), [-1.0, 15.0]);
/// ```
#[panicking]
pub fn try_layer_norm<B: MaybeSharded, S: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, M), E, D, T>,
    weight: &Tensor<(M,), E, D>,
    bias: Option<&Tensor<(M,), E, D>>,
    epsilon: f64,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    let params = NormParams { kind: NormKind::LayerNorm, weight, bias, epsilon };
    if D::HAS_KERNELS {
        return D::fused_norm(input, params);
    }
    let shape = *input.shape();
    let compute = || {
        let weight = weight.retaped::<T>().try_broadcast_like::<_, Axes2<0, 1>>(&shape)?;
        let output = input.try_normalize::<Axis<2>>(epsilon)?.try_mul(weight)?;
        let Some(bias) = bias else { return Ok(output) };
        let bias = bias.retaped::<T>();
        output.try_add(bias.try_broadcast_like::<_, Axes2<0, 1>>(&shape)?)
    };
    compute().map_err(device_error::<D::Err>("layer norm"))
}
