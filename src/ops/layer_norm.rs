use super::unnamed::{on_sizes, reshape_to, rows, zip};
use super::{NormKind, OpError, Real, device_error};
use crate::backend::{Backend, Norm, Tape, WeightTape, norm_kernel, read_weight, run_kernel, weight_on_tape};
use crate::dims::{ConstDim, DataShape, EndsIn};
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, TryAdd, TryMul};

/// `(x - mean(x)) / √(var(x) + ε) · weight + bias`, mean and variance over the last dimension
/// ([Ba et al., 2016](https://arxiv.org/abs/1607.06450)).
///
/// `(.., M), (M), (M) -> (.., M)`, for tensors of 1 to 6 axes. Without a bias it is taken as zero.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu> = device.tensor(vec![3.0, 7.0]);
/// let weight: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![1.0, 10.0]);
/// let bias: Tensor<(EmbedDim,), f64, Cpu> = device.tensor(vec![0.0, 5.0]);
/// assert_eq!(layer_norm(x, &weight, Some(&bias), 0.0)?.as_vec(), [-1.0, 15.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn layer_norm<Dims, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(M,), E, D, W>,
    bias: Option<&Tensor<(M,), E, D, W>>,
    epsilon: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: EndsIn<M, Before: DataShape>,
{
    const OP: &str = "layer norm";
    if D::HAS_KERNELS {
        return run_kernel(OP, *input.shape(), |tape| {
            let input = D::read(input, tape)?;
            let weight = read_weight(weight, tape)?;
            let bias = bias.map(|bias| read_weight(bias, tape)).transpose()?;
            norm_kernel(input, Norm::new(NormKind::LayerNorm, epsilon, weight, bias))
        });
    }
    let shape = *input.shape();
    let rows = rows::<Dims, M, _, _, _>(OP, input)?;
    let (matrix, error) = (*rows.shape(), device_error::<D::Err>(OP));
    let broadcast = |vector: &Tensor<(M,), E, D, W>| {
        weight_on_tape(vector, T::default()).try_broadcast_like::<_, Axis<0>>(&matrix).map_err(&error)
    };
    let normalized = on_sizes(OP, rows, |x: Tensor<[usize; 2], E, D, T>| x.try_normalize::<Axis<1>>(epsilon))?;
    let output = zip(OP, normalized, broadcast(weight)?, |x, y| x.try_mul(y))?;
    let output = match bias {
        Some(bias) => zip(OP, output, broadcast(bias)?, |x, y| x.try_add(y))?,
        None => output,
    };
    reshape_to(OP, output, shape)
}
