//! Rounding to bfloat16, and a linear map of mixed precision.

use super::unnamed::on_elements;
use super::{OpError, Real, cast, ensure_not_empty, linear};
use crate::backend::{
    Backend, Tape, WeightTape, has_fast_bf16, linear_in_bf16_kernel, read_weight, round_kernel, run_kernel,
    weight_on_tape,
};
use crate::dims::{ConstDim, DataShape, EndsIn};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use half::bf16;

const ROUND: &str = "round_to_bf16";

/// `x` rounded to bfloat16, element by element. Backward rounds the gradient too.
///
/// A bfloat16 has the range of an `f32`, but 8 bits of precision in place of 24. A tie goes to the even number. The
/// dtype stays `E`; an `f64` is rounded to `f32` first.
///
/// ```
/// use typed_transformer::{ops::round_to_bf16, prelude::*};
/// let x: Tensor<(Const<3>,), f32, Cpu> = Cpu::default().tensor([1.01, 257.0, 1e-30]);
/// assert_eq!(round_to_bf16(x)?.array()[..2], [1.0078125, 256.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn round_to_bf16<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    let shape = *input.shape();
    if D::HAS_KERNELS {
        return run_kernel(ROUND, shape, |tape| round_kernel(D::read(input, tape)?));
    }
    let round = |x: E| cast(bf16::from_f32(x.to_f32().unwrap_or(f32::NAN)).to_f64());
    let rounded = move |elements: Vec<E>| elements.into_iter().map(round).collect();
    on_elements(ROUND, input, shape, move |elements| Ok(rounded(elements)), move |gradient| Some(rounded(gradient)))
}

/// [`round_to_bf16`] of a weight.
fn round_weight<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    weight: &Tensor<Dims, E, D, W>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    if D::HAS_KERNELS {
        return run_kernel(ROUND, *weight.shape(), |tape| round_kernel(read_weight(weight, tape)?));
    }
    round_to_bf16(weight_on_tape(weight, T::default()))
}

/// `round(round(x) round(W)ᵀ + round(b))`: a [linear map](linear()) in mixed precision, as `F.linear` under
/// `torch.autocast` in bfloat16. Backward rounds the gradients of `x`, `W`, `b` and the output too.
///
/// `(.., InDim), (OutDim, InDim), (OutDim) -> (.., OutDim)`, for tensors of 1 to 6 axes. Sums are in `E`.
///
/// ```
/// use typed_transformer::{ops::linear_in_bf16, prelude::*};
/// dims! { pub EmbedDim = 2; pub HiddenDim = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = device.tensor(vec![257.0, 1.01]);
/// let weight: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 1.0]);
/// let y: Tensor<(Batch, HiddenDim), f32, Cpu> = linear_in_bf16(x, &weight, None)?;
/// assert_eq!(y.as_vec(), [258.0]); // 256 + 1.0078125, rounded to an even number.
/// # Ok::<(), OpError>(())
/// ```
pub fn linear_in_bf16<
    Dims,
    InDim: ConstDim,
    OutDim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
    W: WeightTape<T, E, D>,
>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(OutDim, InDim), E, D, W>,
    bias: Option<&Tensor<(OutDim,), E, D, W>>,
) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError>
where
    Dims: EndsIn<InDim, Before: DataShape>,
{
    const OP: &str = "linear_in_bf16";
    ensure_not_empty(OP, weight.shape())?;
    if D::HAS_KERNELS && has_fast_bf16() {
        return run_kernel(OP, input.shape().with_last(OutDim::default()), |tape| {
            let input = D::read(input, tape)?;
            let weight = read_weight(weight, tape)?;
            let bias = bias.map(|bias| read_weight(bias, tape)).transpose()?;
            linear_in_bf16_kernel(input, weight, bias, [InDim::SIZE, OutDim::SIZE])
        });
    }
    let weight = round_weight(weight)?;
    let bias = bias.map(round_weight).transpose()?;
    round_to_bf16(linear(round_to_bf16(input)?, &weight, bias.as_ref())?)
}
