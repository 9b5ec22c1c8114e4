use super::{OpError, Real, cast, device_error, dim_error, views::realize};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim, MaybeSharded, check_same_size},
    mask::PaddingMask,
    tokens::TokenIds,
};
use dfdx::{
    shapes::{self, Axis, HasShape, Rank0},
    tensor::{PutTape, SplitTape, Tape, Tensor},
    tensor_ops::{BroadcastTo, ChooseFrom, Device, MeanTo, SelectTo, SumTo, TryAdd, TryGt, TryMul},
};
use typed_transformer_macros::panicking;

const OP: &str = "cross-entropy";

/// The reduction of the losses of all positions to one number.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let pad: Fin<VocabSize> = Fin::literal::<2>();
/// // Position 0 is uniform. Position 1 predicts padding, and its label is padding.
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> =
///     device.tensor(vec![0.0, 0.0, 0.0, 0.0, 0.0, 100.0]);
/// let labels = TokenIds::from_ids(&[1, 2], Some(pad), (Batch, SeqLen))?;
/// let loss = |reduction| cross_entropy(logits.clone(), &labels, reduction).array();
/// assert!((loss(Reduction::MeanAll) - 3f64.ln() / 2.0).abs() < 1e-12);
/// assert!((loss(Reduction::MeanPerSequence) - 3f64.ln()).abs() < 1e-12);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The mean over every position, padding included (*Another annotated transformer*).
    MeanAll,
    /// The mean over the labels of each sequence that are not padding, then over the sequences (*The Typed
    /// Transformer*). It ignores padding, as PyTorch's `ignore_index` does: logits there may even be NaN. A
    /// sequence of padding alone has loss 0.
    MeanPerSequence,
}

/// `-log softmax(logits)[label]`, reduced to one number, in nats.
///
/// `(B, S, V), (B, S) ids of V -> ()`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
/// fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 4; pub SeqLen = 1; pub Batch = 1; }
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = Cpu::default().zeros();
/// let labels = TokenIds::from_ids(&[2], None, (Batch, SeqLen))?;
/// let loss = cross_entropy(logits, &labels, Reduction::MeanAll);
/// assert_eq!(loss.array(), 4f64.ln());
/// # Ok::<(), TokenError>(())
/// ```
///
/// ```
/// use typed_transformer::{ops::try_cross_entropy, prelude::*};
/// dims! { pub VocabSize = 4; pub SeqLen; pub Batch = 1; }
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> =
///     Cpu::default().zeros_like(&(Batch, SeqLen::new(3), VocabSize));
/// let labels = TokenIds::from_ids(&[2, 0], None, (Batch, SeqLen::new(2)))?;
/// let error = try_cross_entropy(logits, &labels, Reduction::MeanAll).err().unwrap();
/// assert_eq!(error.to_string(), "cross-entropy: `SeqLen` is 3 in the logits and 2 in the labels");
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_cross_entropy<B: Dim, S: Dim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    reduction: Reduction,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    try_cross_entropy_with_label_smoothing(logits, labels, reduction, 0.0)
}

/// [`cross_entropy`] with label smoothing
/// ([Szegedy et al., 2015](https://arxiv.org/abs/1512.00567), 7; *Attention Is All You Need*, 5.4).
///
/// `(B, S, V), (B, S) ids of V -> ()`
///
/// `-Σₖ qₖ · log softmax(logits)ₖ`. Every token has `q = smoothing / V`, and the label has `1 - smoothing` more, as
/// in PyTorch.
///
/// # Errors
/// [`OpError::Smoothing`] if `smoothing` is not from 0 to 1; [`OpError::Dim`] if two sizes of a
/// run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::cross_entropy_with_label_smoothing, prelude::*};
/// dims! { pub VocabSize = 2; pub SeqLen = 1; pub Batch = 1; }
/// // The label has odds of e⁴.
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = Cpu::default().tensor(vec![2.0, -2.0]);
/// let labels = TokenIds::from_ids(&[0], None, (Batch, SeqLen))?;
/// let unsmoothed = cross_entropy(logits.clone(), &labels, Reduction::MeanAll);
/// let smoothed = cross_entropy_with_label_smoothing(logits, &labels, Reduction::MeanAll, 0.1);
/// // The other token has q = 0.05.
/// assert!((smoothed.array() - (unsmoothed.array() + 0.05 * 4.0)).abs() < 1e-12);
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_cross_entropy_with_label_smoothing<B: Dim, S: Dim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    reduction: Reduction,
    smoothing: f64,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    let batch = labels.shape().0.size();
    weighted_cross_entropy(logits, labels, reduction, batch, smoothing)
}

/// The part of the loss that the rows of `labels` have in a batch of `whole_batch` rows.
pub(super) fn weighted_cross_entropy<B: MaybeSharded, S: Dim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    reduction: Reduction,
    whole_batch: usize,
    smoothing: f64,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    if !(0.0..=1.0).contains(&smoothing) {
        return Err(OpError::Smoothing { smoothing });
    }
    let ((batch, len, _), (label_batch, label_len)) = (*logits.shape(), labels.shape());
    check_same_size("the logits", batch, "the labels", label_batch).map_err(dim_error(OP))?;
    check_same_size("the logits", len, "the labels", label_len).map_err(dim_error(OP))?;
    let position_weights = position_weights(&labels.padding_mask(), reduction, whole_batch);
    if D::HAS_KERNELS {
        return D::fused_cross_entropy(logits, labels, &position_weights, smoothing);
    }

    let (device, shape) = (logits.device().clone(), (batch.size(), len.size()));
    let logits: Tensor<(usize, usize, usize), E, D, T> = realize(OP, logits)?;
    let compute = || {
        let ids: Tensor<_, usize, D> = device.try_tensor_from_vec(labels.as_slice().to_vec(), shape)?;
        let position_weights: Tensor<_, E, D> = device.try_tensor_from_vec(position_weights, shape)?;
        let logits = counted_logits(logits, &position_weights, reduction)?;
        let (log_softmax, tape) = logits.try_log_softmax::<Axis<2>>()?.split_tape();
        let target_log_prob: Tensor<(usize, usize), E, D, T> = log_softmax.clone().put_tape(tape).try_select(ids)?;
        // Without smoothing, skip the mean: a logit of −∞ at another token would spoil the loss.
        let log_likelihood = if smoothing == 0.0 {
            target_log_prob
        } else {
            let mean_log_prob: Tensor<(usize, usize), E, D, T> = log_softmax.retaped::<T>().try_mean::<_, Axis<2>>()?;
            let target_log_prob = target_log_prob.try_mul(cast::<E>(1.0 - smoothing))?;
            target_log_prob.try_add(mean_log_prob.try_mul(cast::<E>(smoothing))?)?
        };
        log_likelihood.try_mul(position_weights.retaped::<T>())?.try_sum()?.try_negate()
    };
    compute().map_err(device_error::<D::Err>(OP))
}

/// The weight of each position in the reduction of a batch of `whole_batch` rows, in row-major order.
pub(super) fn position_weights<B: MaybeSharded, S: Dim, E: Real>(
    padding: &PaddingMask<B, S>,
    reduction: Reduction,
    whole_batch: usize,
) -> Vec<E> {
    let (batch, len) = (padding.shape().0.size(), padding.shape().1.size());
    match reduction {
        Reduction::MeanAll => vec![cast(1.0 / (whole_batch * len) as f64); batch * len],
        Reduction::MeanPerSequence => {
            let sequences = padding.as_slice().chunks(len.max(1));
            let weights = sequences.flat_map(|sequence| {
                let tokens = sequence.iter().filter(|is_token| **is_token).count().max(1);
                let weight = 1.0 / (whole_batch * tokens) as f64;
                sequence.iter().map(move |&is_token| cast(if is_token { weight } else { 0.0 }))
            });
            weights.collect()
        }
    }
}

/// The logits, with zeros at the positions that the reduction does not count, because 0 × ∞ would be NaN.
pub(super) fn counted_logits<B: shapes::Dim, S: shapes::Dim, V: shapes::Dim, E: Real, D: Device<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    position_weights: &Tensor<(B, S), E, D>,
    reduction: Reduction,
) -> Result<Tensor<(B, S, V), E, D, T>, D::Err> {
    match reduction {
        Reduction::MeanAll => Ok(logits),
        Reduction::MeanPerSequence => {
            let is_counted = position_weights.try_gt(E::zero())?;
            let zeros = logits.device().try_zeros_like(logits.shape())?;
            is_counted.try_broadcast_like::<_, Axis<2>>(logits.shape())?.try_choose(logits, zeros.retaped::<T>())
        }
    }
}
