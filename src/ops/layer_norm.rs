use super::{
    NormKind, OpError, Real, device_error,
    unnamed::{try_on_sizes, try_zip},
};
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
    const OP: &str = "layer norm";
    let params = NormParams { kind: NormKind::LayerNorm, weight, bias, epsilon };
    if D::HAS_KERNELS {
        return D::fused_norm(input, params);
    }
    let (shape, error) = (*input.shape(), device_error::<D::Err>(OP));
    let broadcast = |vector: &Tensor<(M,), E, D>| {
        vector.retaped::<T>().try_broadcast_like::<_, Axes2<0, 1>>(&shape).map_err(&error)
    };
    let normalized = try_on_sizes(OP, input, |x: Tensor<[usize; 3], E, D, T>| x.try_normalize::<Axis<2>>(epsilon))?;
    let output = try_zip(OP, normalized, broadcast(weight)?, |x, y| x.try_mul(y))?;
    let Some(bias) = bias else { return Ok(output) };
    try_zip(OP, output, broadcast(bias)?, |x, y| x.try_add(y))
}
