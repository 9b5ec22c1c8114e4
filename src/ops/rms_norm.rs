use super::unnamed::{on_sizes, reshape_to, rows, zip};
use super::{NormKind, OpError, Real, cast, device_error};
use crate::backend::{Backend, Norm, Tape, WeightTape, norm_kernel, read_weight, run_kernel, weight_on_tape};
use crate::dims::{ConstDim, DataShape, EndsIn};
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, MeanTo, TryAdd, TryDiv, TryMul};

/// `x / √(mean(x²) + ε) · weight`, the mean over the last dimension ([Zhang and Sennrich,
/// 2019](https://arxiv.org/abs/1910.07467); *Learning the Transformer*, "The Rest").
///
/// `(.., M), (M) -> (.., M)`, for tensors of 1 to 6 axes.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu> = device.tensor(vec![1.0, -7.0]);
/// let weight: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![1.0, 10.0]);
/// // The mean of 1 and 49 is 25.
/// assert_eq!(rms_norm(x, &weight, 0.0)?.as_vec(), [0.2, -14.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn rms_norm<Dims, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(M,), E, D, W>,
    epsilon: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: EndsIn<M, Before: DataShape>,
{
    const OP: &str = "RMS norm";
    if D::HAS_KERNELS {
        return run_kernel(OP, *input.shape(), |tape| {
            let input = D::read(input, tape)?;
            let weight = read_weight(weight, tape)?;
            norm_kernel(input, Norm::new(NormKind::RmsNorm, epsilon, weight, None))
        });
    }
    let shape = *input.shape();
    let rows = rows::<Dims, M, _, _, _>(OP, input)?;
    let matrix = *rows.shape();
    let normalized = on_sizes(OP, rows, |x: Tensor<[usize; 2], E, D, T>| {
        let mean_square = x.clone().try_square()?.try_mean::<[usize; 1], Axis<1>>()?;
        let root = mean_square.try_add(cast::<E>(epsilon))?.try_sqrt()?;
        let root = root.try_broadcast_like::<_, Axis<1>>(x.shape())?;
        x.try_div(root)
    })?;
    let weight =
        weight_on_tape(weight, T::default()).try_broadcast_like::<_, Axis<0>>(&matrix).map_err(device_error(OP))?;
    reshape_to(OP, zip(OP, normalized, weight, |x, y| x.try_mul(y))?, shape)
}
