use super::arithmetic::elementwise;
use super::cross_entropy::{counted_rows, len_and_count, position_weights};
use super::reduce::reduce_all_by_kernel;
use super::unnamed::{choose, rows};
use super::where_::bool_tensor;
use super::{
    OpError, Padding, PadsLogits, Real, Reduction, device_error, dim_error, ensure_not_empty, log_softmax_over,
    softmax_over,
};
use crate::backend::{Arithmetic, Backend, ReductionKind, Tape, elements_of};
use crate::dims::{Dim, EndsIn, WholeShape, axis};
use dfdx::shapes::{Axis, HasShape, Rank0, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, SumTo};

const OP: &str = "KL divergence";

/// `Σ p · (log p - log q)` with `p = softmax(target)` and `q = softmax(logits)`, reduced to one number, in nats: how
/// far the predictions are from those of another model, as in distillation ([Hinton et al.,
/// 2015](https://arxiv.org/abs/1503.02531), 2).
///
/// `(.., V), (.., V), padding (..) -> ()`, for logits of 1 to 6 axes.
///
/// [`Padding`] counts as in [`cross_entropy`](super::cross_entropy). The target is a constant.
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
) -> Result<Tensor<Rank0, E, D, T>, OpError>
where
    Dims: EndsIn<V> + WholeShape,
    Positions: Shape,
    Keeps: Padding<Positions> + PadsLogits<Dims, Positions>,
{
    let shape = *logits.shape();
    shape.check_same_sizes("the logits", *target.shape(), "the target").map_err(dim_error(OP))?;
    Keeps::check_sizes(shape, padding.shape()).map_err(dim_error(OP))?;
    ensure_not_empty(OP, &shape)?;

    let device = logits.device().clone();
    let (len, sequences) = len_and_count(padding.shape());
    let weights = position_weights(&padding.is_token(), len, reduction, sequences);
    let target = counted_rows(OP, rows::<_, V, _, _, _>(OP, target.clone())?, &weights)?;
    let logits = counted_rows(OP, rows::<_, V, _, _, _>(OP, logits)?, &weights)?;
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
        let is_possible = bool_tensor(OP, &is_possible, shape, &device)?;
        let zeros: Tensor<_, E, D> = device.try_zeros_like(&shape).map_err(device_error(OP))?;
        log_ratio = choose(OP, is_possible, log_ratio, zeros)?;
    }
    let divergence = elementwise(OP, Arithmetic::Mul, log_ratio, probabilities)?;
    if D::HAS_KERNELS {
        return reduce_all_by_kernel(OP, divergence, ReductionKind::Sum);
    }
    divergence.try_sum().map_err(device_error(OP))
}
