use super::operand::distinct_from;
use super::unnamed::{Rows, matmul_2d_transposed, reshape_to, rows, zip};
use super::{OpError, Real, device_error, ensure_not_empty};
use crate::backend::{Backend, Linear, Tape, WeightTape, linear_kernel, read_weight, run_kernel, weight_on_tape};
use crate::dims::{ConstDim, DataShape, EndsIn, Factor};
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, TryAdd};

const OP: &str = "linear";

/// `x Wᵀ + b`: a linear map of the vector at each position.
///
/// `(.., InDim), (OutDim, InDim), (OutDim) -> (.., OutDim)`, for tensors of 1 to 6 axes.
///
/// ```
/// use typed_transformer::{ops::linear, prelude::*};
/// dims! { pub EmbedDim = 2; pub HiddenDim = 3; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0]);
/// let weight: Tensor<(HiddenDim, EmbedDim), f32, Cpu> =
///     device.tensor(vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
/// let y: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> = linear(x, &weight, None)?;
/// assert_eq!(y.as_vec(), [1.0, 2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn linear<Dims, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(OutDim, InDim), E, D, W>,
    bias: Option<&Tensor<(OutDim,), E, D, W>>,
) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError>
where
    Dims: EndsIn<InDim, Before: DataShape>,
{
    linear_of_parts(input, weight, bias)
}

/// [`linear`] with the rows, or with the columns, of the weight that this rank has.
pub(crate) fn linear_of_parts<
    Dims: EndsIn<InDim, Before: DataShape>,
    InDim: Factor,
    OutDim: Factor,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
    W: WeightTape<T, E, D>,
>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(OutDim, InDim), E, D, W>,
    bias: Option<&Tensor<(OutDim,), E, D, W>>,
) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
    ensure_not_empty(OP, weight.shape())?;
    let output_shape = input.shape().with_last(OutDim::default());
    if D::HAS_KERNELS {
        return run_kernel(OP, output_shape, |tape| {
            let input = D::read(input, tape)?;
            let weight = read_weight(weight, tape)?;
            let bias = bias.map(|bias| read_weight(bias, tape)).transpose()?;
            linear_kernel(input, Linear::new(weight, bias, InDim::SIZE, OutDim::SIZE))
        });
    }
    let rows = rows::<Dims, InDim, _, _, _>(OP, input)?;
    let weight = distinct_from(&rows, weight_on_tape(weight, T::default()))?;
    let output: Tensor<(Rows, OutDim), E, D, T> = matmul_2d_transposed(OP, rows, weight)?;
    reshape_to(OP, bias.into_iter().try_fold(output, add_bias)?, output_shape)
}

/// `x + b` at each position: `(.., OutDim), (OutDim) -> (.., OutDim)`.
pub(crate) fn add_bias<Dims, OutDim: Factor, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    bias: &Tensor<(OutDim,), E, D, W>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: EndsIn<OutDim>,
{
    let (shape, rows) = (*input.shape(), rows::<Dims, OutDim, _, _, _>(OP, input)?);
    let bias = weight_on_tape(bias, T::default()).try_broadcast_like::<_, Axis<0>>(rows.shape());
    reshape_to(OP, zip(OP, rows, bias.map_err(device_error(OP))?, |x, y| x.try_add(y))?, shape)
}
