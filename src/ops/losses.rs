//! The losses beside [`cross_entropy`](super::cross_entropy()): of numbers, and of the predictions of another model.

use super::arithmetic::elementwise;
use super::cross_entropy::{len_and_count, position_weights, zero_uncounted_rows};
use super::reduce::reduce_all_by_kernel;
use super::unnamed::{choose, rows};
use super::where_::{bool_tensor, check_same_shape};
use super::{
    Activation, OpError, Padding, PadsLogits, Real, Reduction, Softplus, detach, device_error, dim_error,
    ensure_not_empty, full, log_softmax_over, mean, scale, softmax_over,
};
use crate::backend::{Arithmetic, Backend, LossKind, ReductionKind, Tape, elements_of, loss_kernel, run_kernel};
use crate::dims::{Dim, EndsIn, NamedShape, WholeShape, axis};
use dfdx::shapes::{Axis, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, SumTo};

/// The mean of `(prediction - target)²` over all elements: `(..), (..) -> ()`.
///
/// The target is a constant.
///
/// ```
/// use typed_transformer::{ops::mean_squared_error, prelude::*};
/// dims! { pub Batch = 2; }
/// let prediction: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![1.0, 2.0]);
/// let target: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![1.0, 5.0]);
/// assert_eq!(mean_squared_error(prediction, &target)?.array(), 4.5);
/// # Ok::<(), OpError>(())
/// ```
pub fn mean_squared_error<Dims: WholeShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    prediction: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
) -> Result<Tensor<(), E, D, T>, OpError> {
    const OP: &str = "mean squared error";
    check_same_shape(OP, prediction.shape(), target.shape())?;
    ensure_not_empty(OP, target.shape())?;
    if D::HAS_KERNELS {
        return mean(by_kernel(OP, LossKind::SquaredError, prediction, target)?);
    }
    let difference = elementwise(OP, Arithmetic::Sub, prediction, detach(target)?)?;
    mean(elementwise(OP, Arithmetic::Mul, difference.clone(), difference)?)
}

/// The mean of [`binary_cross_entropy_by_element`] over all elements: `(..), (..) -> ()`.
///
/// It is PyTorch's `binary_cross_entropy_with_logits`. Padding counts. A loss without padding is made of the losses by
/// element, after [`where_`](super::where_) has put 0 at padding.
///
/// ```
/// use typed_transformer::{ops::binary_cross_entropy, prelude::*};
/// dims! { pub Batch = 2; }
/// let logits: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![0.0, 1000.0]);
/// let target: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![1.0, 1.0]);
/// assert_eq!(binary_cross_entropy(logits, &target)?.array(), 2f64.ln() / 2.0);
/// # Ok::<(), OpError>(())
/// ```
pub fn binary_cross_entropy<Dims: WholeShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
) -> Result<Tensor<(), E, D, T>, OpError> {
    mean(binary_cross_entropy_by_element(logits, target)?)
}

/// `-t · log σ(x) - (1 - t) · log(1 - σ(x))` of each element, in nats, for logits `x` and targets `t` from 0 to 1:
/// PyTorch's `reduction="none"`.
///
/// `(..), (..) -> (..)`. No large logit makes it NaN. The target is a constant.
///
/// ```
/// use typed_transformer::{ops::{binary_cross_entropy_by_element, where_}, prelude::*};
/// dims! { pub VocabSize = 4; pub SeqLen = 2; pub Batch = 1; }
/// let pad: Fin<VocabSize> = Fin::literal::<3>();
/// let padding = TokenIds::from_ids(&[2, 3], Some(pad), (Batch, SeqLen))?.padding_mask();
/// let logits: Tensor<(Batch, SeqLen), f64, Cpu> = Cpu::default().tensor(vec![0.0, 5.0]);
/// let target: Tensor<(Batch, SeqLen), f64, Cpu> = Cpu::default().tensor(vec![1.0, 0.0]);
/// let losses = where_(&padding, binary_cross_entropy_by_element(logits, &target)?, 0.0)?;
/// assert_eq!(losses.as_vec(), [2f64.ln(), 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn binary_cross_entropy_by_element<Dims: NamedShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "binary cross-entropy";
    check_same_shape(OP, logits.shape(), target.shape())?;
    ensure_not_empty(OP, target.shape())?;
    if D::HAS_KERNELS {
        return by_kernel(OP, LossKind::BinaryCrossEntropy, logits, target);
    }
    let ones = full(target.device(), *target.shape(), 1.0)?;
    let of_others = elementwise(OP, Arithmetic::Sub, ones, target.clone())?;
    // `-log σ(x)` is `ln(1 + e⁻ˣ)`, and `-log(1 - σ(x))` is `ln(1 + eˣ)`. Both are positive, so no digits cancel.
    let [if_true, if_false] = [scale(logits.clone(), -1.0)?, logits].map(Softplus::apply);
    let if_true = elementwise(OP, Arithmetic::Mul, if_true?, detach(target)?)?;
    let if_false = elementwise(OP, Arithmetic::Mul, if_false?, of_others)?;
    elementwise(OP, Arithmetic::Add, if_true, if_false)
}

/// The loss of each element by the device's kernel.
fn by_kernel<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    loss: LossKind,
    input: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    run_kernel(op, *input.shape(), |tape| {
        let input = D::read(input, tape)?;
        loss_kernel(input, D::read(target.clone(), tape)?, loss)
    })
}

/// `Σ p · (log p - log q)` with `p = softmax(target)` and `q = softmax(logits)`, reduced to one number, in nats: how
/// far the predictions are from those of another model, as in distillation ([Hinton et al.,
/// 2015](https://arxiv.org/abs/1503.02531), 2).
///
/// `(.., V), (.., V), padding (..) -> ()`, for logits of 1 to 6 axes.
///
/// [`Padding`] counts as in [`cross_entropy`](super::cross_entropy). It is the mask of the labels,
/// [`LabelIds::padding_mask`](crate::tokens::LabelIds::padding_mask), not of the inputs. The target is a constant.
///
/// ```
/// use typed_transformer::{ops::kl_divergence, prelude::*};
/// dims! { pub VocabSize = 2; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = device.tensor(vec![0.0, 3f64.ln()]);
/// let target: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = device.tensor(vec![0.0, 0.0]);
/// let padding = PaddingMask::without_padding((Batch, SeqLen));
/// let loss = kl_divergence(logits, &target, &padding, Reduction::MeanAll)?.array();
/// // ½ log (½ / ¼) + ½ log (½ / ¾)
/// assert!((loss - 0.5 * (4f64 / 3.0).ln()).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
pub fn kl_divergence<Dims, Positions, Keeps, V: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
    padding: &Keeps,
    reduction: Reduction,
) -> Result<Tensor<(), E, D, T>, OpError>
where
    Dims: EndsIn<V> + WholeShape,
    Positions: Shape,
    Keeps: Padding<Positions> + PadsLogits<Dims, Positions>,
{
    const OP: &str = "KL divergence";
    let shape = *logits.shape();
    shape.check_same_sizes("the logits", *target.shape(), "the target").map_err(dim_error(OP))?;
    Keeps::check_sizes(shape, padding.positions()).map_err(dim_error(OP))?;
    ensure_not_empty(OP, &shape)?;

    let device = logits.device().clone();
    let (len, sequences) = len_and_count(padding.positions());
    let weights = position_weights(&padding.is_token(), len, reduction, sequences);
    let target = zero_uncounted_rows(OP, rows::<_, V, _, _, _>(OP, target.clone())?, &weights)?;
    let logits = zero_uncounted_rows(OP, rows::<_, V, _, _, _>(OP, logits)?, &weights)?;
    let shape @ (positions, _) = *logits.shape();
    let weights = device.try_tensor_from_vec(weights, (positions,)).map_err(device_error(OP))?;
    let weights = weights.try_broadcast_like::<_, Axis<1>>(&shape).map_err(device_error(OP))?;
    let probabilities = softmax_over::<_, V, Axis<1>, _, _, _>(target.clone(), axis::<V>())?;
    let probabilities = elementwise(OP, Arithmetic::Mul, probabilities, weights)?;
    let target = log_softmax_over::<_, V, Axis<1>, _, _, _>(target, axis::<V>())?.retaped::<T>();
    let logits = log_softmax_over::<_, V, Axis<1>, _, _, _>(logits, axis::<V>())?;
    let mut log_ratio = elementwise(OP, Arithmetic::Sub, target, logits)?;
    // Where `p` is 0, so is the term, also if `log p` is -∞.
    let is_possible: Vec<bool> = elements_of(&probabilities).into_iter().map(|p| p != E::zero()).collect();
    if is_possible.contains(&false) {
        let is_possible = bool_tensor(OP, is_possible, shape, &device)?;
        let zeros: Tensor<_, E, D> = device.try_zeros_like(&shape).map_err(device_error(OP))?;
        log_ratio = choose(OP, is_possible, log_ratio, zeros)?;
    }
    let divergence = elementwise(OP, Arithmetic::Mul, log_ratio, probabilities)?;
    if D::HAS_KERNELS {
        return reduce_all_by_kernel(OP, divergence, ReductionKind::Sum);
    }
    divergence.try_sum().map_err(device_error(OP))
}
