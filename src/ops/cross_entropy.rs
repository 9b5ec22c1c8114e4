use super::arithmetic::elementwise;
use super::gather::gather_repeated;
use super::unnamed::{Rows, choose, repeated, reshape_to};
use super::views::with_shape_type;
use super::where_::bool_tensor;
use super::{
    FitsLogits, Labels, LabelsByPosition, OpError, Real, cast, device_error, dim_error, ensure_not_empty,
    log_softmax_over, scale,
};
use crate::backend::{Arithmetic, Backend, Tape, cross_entropy_kernel, run_kernel};
use crate::dims::{Const, Dim, axis};
use crate::tokens::{Fin, Indices};
use dfdx::shapes::{Axis, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{MeanTo, SelectTo, SumTo, TryAdd, TryMul};

const OP: &str = "cross-entropy";

/// The reduction of the losses of all positions to one number.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let pad: Fin<VocabSize> = Fin::literal::<2>();
/// // Position 0 is uniform. Position 1 predicts padding, and its label is padding.
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = device.tensor(vec![0.0, 0.0, 0.0, 0.0, 0.0, 100.0]);
/// let labels = LabelIds::from_ids(&[1, 2], Some(pad), (Batch, SeqLen))?;
/// let loss = |reduction| cross_entropy(logits.clone(), &labels, reduction).unwrap().array();
/// assert!((loss(Reduction::MeanAll) - 3f64.ln() / 2.0).abs() < 1e-12);
/// assert!((loss(Reduction::MeanPerSequence) - 3f64.ln()).abs() < 1e-12);
/// assert!((loss(Reduction::MeanTokens) - 3f64.ln()).abs() < 1e-12);
/// assert!((loss(Reduction::Sum) - 3f64.ln()).abs() < 1e-12);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The mean over every position, padding included (*Another annotated transformer*).
    MeanAll,
    /// The mean over the labels of each sequence that are not padding, then over the sequences (*The Typed
    /// Transformer*). It ignores padding: logits there may even be NaN. A sequence of padding alone has loss 0. Labels
    /// that have no padding give the loss of `MeanAll`.
    MeanPerSequence,
    /// The mean over all labels that are not padding: a long sequence counts for more than a short one. It is PyTorch's
    /// mean with `ignore_index`. In place of -100, padding is a token of the vocabulary
    /// ([`LabelIds::from_ids`](crate::tokens::LabelIds::from_ids)).
    /// Logits at padding may be NaN. Labels of padding alone have loss 0.
    MeanTokens,
    /// The sum over all labels that are not padding. Logits at padding may be NaN.
    Sum,
}

/// `-log softmax(logits)[label]`, reduced to one number, in nats.
///
/// `(.., V), (..) indices of V -> ()`, for logits of 1 to 6 axes. The [`Labels`] of logits `(B, S, V)` are
/// [`LabelIds`](crate::tokens::LabelIds), or [`Indices`] as for any other logits.
///
/// Logits are not probabilities: the output of [`softmax_over`](crate::ops::softmax_over) would go through a second
/// softmax.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 4; pub SeqLen = 1; pub Batch = 1; }
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = Cpu::default().zeros();
/// let labels = LabelIds::from_ids(&[2], None, (Batch, SeqLen))?;
/// let loss = cross_entropy(logits, &labels, Reduction::MeanAll)?;
/// assert_eq!(loss.array(), 4f64.ln());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A classifier has one label in each row:
///
/// ```
/// use typed_transformer::{prelude::*, tokens::Indices};
/// dims! { pub NumClasses = 2; pub Batch = 2; }
/// let logits: Tensor<(Batch, NumClasses), f64, Cpu> = Cpu::default().tensor(vec![0.0, 0.0, 0.0, 3f64.ln()]);
/// let labels = Indices::new(&[0, 1], (Batch,), NumClasses)?;
/// let loss = cross_entropy(logits, &labels, Reduction::MeanAll)?;
/// // The probabilities of the labels are 1/2 and 3/4.
/// assert!((loss.array() - (2f64.ln() + (4f64 / 3.0).ln()) / 2.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The number of classes may be known at run time only: a label may be the position in a text where an answer starts.
pub fn cross_entropy<Dims: Shape, Positions: Shape, V: Dim, Ids, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<Dims, E, D, T>,
    labels: &Ids,
    reduction: Reduction,
) -> Result<Tensor<(), E, D, T>, OpError>
where
    Ids: ?Sized + Labels<Positions, V> + FitsLogits<Dims, Positions, V>,
{
    cross_entropy_with_label_smoothing(logits, labels, reduction, 0.0)
}

/// [`cross_entropy`] with label smoothing
/// ([Szegedy et al., 2015](https://arxiv.org/abs/1512.00567), 7; *Attention Is All You Need*, 5.4).
///
/// `(.., V), (..) indices of V -> ()`
///
/// `-Σₖ qₖ · log softmax(logits)ₖ`. Every token has `q = smoothing / V`, and the label has `1 - smoothing` more, as
/// in PyTorch.
///
/// # Errors
/// [`OpError::Smoothing`] if `smoothing` is not from 0 to 1.
///
/// ```
/// use typed_transformer::{ops::cross_entropy_with_label_smoothing, prelude::*};
/// dims! { pub VocabSize = 2; pub SeqLen = 1; pub Batch = 1; }
/// // The label has odds of e⁴.
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = Cpu::default().tensor(vec![2.0, -2.0]);
/// let labels = LabelIds::from_ids(&[0], None, (Batch, SeqLen))?;
/// let unsmoothed = cross_entropy(logits.clone(), &labels, Reduction::MeanAll)?;
/// let smoothed = cross_entropy_with_label_smoothing(logits, &labels, Reduction::MeanAll, 0.1)?;
/// // The other token has q = 0.05.
/// assert!((smoothed.array() - (unsmoothed.array() + 0.05 * 4.0)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cross_entropy_with_label_smoothing<
    Dims: Shape,
    Positions: Shape,
    V: Dim,
    Ids,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    logits: Tensor<Dims, E, D, T>,
    labels: &Ids,
    reduction: Reduction,
    smoothing: f64,
) -> Result<Tensor<(), E, D, T>, OpError>
where
    Ids: ?Sized + Labels<Positions, V> + FitsLogits<Dims, Positions, V>,
{
    let (ids, padding) = (labels.indices(), labels.padding());
    let (len, sequences) = len_and_count(ids.shape());
    let weighting = (reduction, len, sequences);
    weighted_cross_entropy::<Ids, _, _, _, _, _, _>(logits, ids, padding, weighting, smoothing)
}

/// `-log softmax(logits)[label]` of each position, in nats, and 0 where the label is padding: PyTorch's
/// `reduction="none"`.
///
/// `(.., V), (..) indices of V -> (..)`, for logits of 1 to 6 axes, of which ranks may divide the batch. Losses that weigh
/// positions differently are made of it: losses of preferences, policies or weighted examples. Logits at padding may
/// be NaN.
///
/// ```
/// use typed_transformer::{ops::cross_entropy_by_position, prelude::*};
/// dims! { pub VocabSize = 4; pub SeqLen = 2; pub Batch = 1; }
/// let pad: Fin<VocabSize> = Fin::literal::<3>();
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = Cpu::default().zeros();
/// let labels = LabelIds::from_ids(&[2, 3], Some(pad), (Batch, SeqLen))?;
/// let losses: Tensor<(Batch, SeqLen), f64, Cpu> = cross_entropy_by_position(logits, &labels)?;
/// assert_eq!(losses.as_vec(), [4f64.ln(), 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cross_entropy_by_position<Dims: Shape, Positions: Shape, V: Dim, Ids, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<Dims, E, D, T>,
    labels: &Ids,
) -> Result<Tensor<Positions, E, D, T>, OpError>
where
    Ids: ?Sized + LabelsByPosition<Positions, V> + FitsLogits<Dims, Positions, V>,
{
    let (ids, padding) = (labels.indices(), labels.padding());
    Ids::check_sizes(*logits.shape(), ids).map_err(dim_error(OP))?;
    ensure_not_empty(OP, logits.shape())?;
    let is_token = is_token(ids.as_slice(), padding.map(Fin::value));
    let weights: Vec<E> = position_weights(&is_token, 1, Reduction::Sum, 1);
    let logits = zero_uncounted_rows(OP, Ids::rows(OP, logits)?, &weights)?;
    let (positions, _) = *logits.shape();
    let weights = logits.device().try_tensor_from_vec(weights, (positions,)).map_err(device_error(OP))?;
    let weights = scale(weights, -1.0)?;
    let log_probs = log_softmax_over::<_, V, Axis<1>, _, _, _>(logits, axis::<V>())?;
    let of_labels =
        gather_repeated::<_, V, Const<1>, Axis<1>, _, _, _>(OP, log_probs, ids.as_slice(), 1, (positions, Const::<1>))?;
    let of_labels = reshape_to(OP, of_labels, (positions,))?;
    reshape_to(OP, elementwise(OP, Arithmetic::Mul, of_labels, weights)?, ids.shape())
}

/// Whether each label is a token, and not padding.
fn is_token(labels: &[usize], padding: Option<usize>) -> Vec<bool> {
    labels.iter().map(|&label| Some(label) != padding).collect()
}

/// The loss of these labels, or, if they are one rank's part of a batch, the rank's term of the loss. The whole batch
/// has `whole_count` sequences of length `len`.
pub(super) fn weighted_cross_entropy<Ids, Dims: Shape, Positions: Shape, V: Dim, E: Real, D: Backend<E>, T>(
    logits: Tensor<Dims, E, D, T>,
    labels: &Indices<Positions, V>,
    padding: Option<Fin<V>>,
    (reduction, len, whole_count): (Reduction, usize, usize),
    smoothing: f64,
) -> Result<Tensor<(), E, D, T>, OpError>
where
    Ids: ?Sized + FitsLogits<Dims, Positions, V>,
    T: Tape<E, D>,
{
    if !(0.0..=1.0).contains(&smoothing) {
        return Err(OpError::Smoothing { smoothing });
    }
    Ids::check_sizes(*logits.shape(), labels).map_err(dim_error(OP))?;
    ensure_not_empty(OP, logits.shape())?;
    let is_token = is_token(labels.as_slice(), padding.map(Fin::value));
    if D::HAS_KERNELS {
        // The kernel takes weights in `f32`.
        let position_weights = position_weights(&is_token, len, reduction, whole_count);
        return run_kernel(OP, (), |tape| {
            let logits = D::read(logits, tape)?;
            cross_entropy_kernel(logits, labels.axis().size(), labels.clone_arc(), position_weights, smoothing)
        });
    }

    let position_weights: Vec<E> = position_weights(&is_token, len, reduction, whole_count);
    let rows = Ids::rows(OP, logits)?;
    let (device, (positions, _)) = (rows.device().clone(), *rows.shape());
    let logits: Tensor<(usize, usize), E, D, T> =
        with_shape_type(OP, zero_uncounted_rows(OP, rows, &position_weights)?)?;
    let compute = || {
        let shape = (positions.size(),);
        let ids: Tensor<_, usize, D> = device.try_tensor_from_vec(labels.as_slice().to_vec(), shape)?;
        let position_weights: Tensor<_, E, D> = device.try_tensor_from_vec(position_weights, shape)?;
        let log_softmax = logits.try_log_softmax::<Axis<1>>()?;
        let target_log_prob: Tensor<(usize,), E, D, T> = log_softmax.clone().try_select(ids)?;
        // Without smoothing, skip the mean: a logit of −∞ at another token would spoil the loss.
        let log_likelihood = if smoothing == 0.0 {
            target_log_prob
        } else {
            let mean_log_prob: Tensor<(usize,), E, D, T> = log_softmax.try_mean::<_, Axis<1>>()?;
            let target_log_prob = target_log_prob.try_mul(cast::<E>(1.0 - smoothing))?;
            target_log_prob.try_add(mean_log_prob.try_mul(cast::<E>(smoothing))?)?
        };
        log_likelihood.try_mul(position_weights)?.try_sum()?.try_negate()
    };
    compute().map_err(device_error::<D::Err>(OP))
}

/// The length of a sequence, which is the last axis of the positions, and the number of sequences.
pub(super) fn len_and_count<Positions: Shape>(shape: Positions) -> (usize, usize) {
    let sizes: Vec<usize> = shape.concrete().into();
    let (len, rest) = sizes.split_last().map_or((1, &[][..]), |(len, rest)| (*len, rest));
    (len, rest.iter().product())
}

/// The weight of each position in the reduction of `whole_count` sequences of length `len`, in row-major order.
pub(super) fn position_weights<E: Real>(
    is_token: &[bool],
    len: usize,
    reduction: Reduction,
    whole_count: usize,
) -> Vec<E> {
    match reduction {
        Reduction::MeanAll => vec![cast(1.0 / (whole_count * len) as f64); is_token.len()],
        Reduction::MeanTokens => {
            let tokens = is_token.iter().filter(|is_token| **is_token).count().max(1);
            is_token.iter().map(|&is_token| cast(f64::from(is_token) / tokens as f64)).collect()
        }
        Reduction::Sum => is_token.iter().map(|&is_token| cast(f64::from(is_token))).collect(),
        Reduction::MeanPerSequence => {
            let weights = is_token.chunks(len.max(1)).flat_map(|sequence| {
                let tokens = sequence.iter().filter(|is_token| **is_token).count().max(1);
                let weight = 1.0 / (whole_count * tokens) as f64;
                sequence.iter().map(move |&is_token| cast(if is_token { weight } else { 0.0 }))
            });
            weights.collect()
        }
    }
}

/// The vectors, with zeros at the positions whose weight is 0, because 0 × ∞ would be NaN.
pub(super) fn zero_uncounted_rows<V: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    vectors: Tensor<(Rows, V), E, D, T>,
    position_weights: &[E],
) -> Result<Tensor<(Rows, V), E, D, T>, OpError> {
    let is_counted: Vec<bool> = position_weights.iter().map(|weight| *weight != E::zero()).collect();
    if !is_counted.contains(&false) {
        return Ok(vectors);
    }
    let (shape, device) = (*vectors.shape(), vectors.device().clone());
    let is_counted = bool_tensor(op, is_counted, (shape.0,), &device)?;
    let is_counted = repeated::<E, 1, _, _, _>(op, is_counted, &shape)?;
    choose(op, is_counted, vectors, device.try_zeros_like(&shape).map_err(device_error::<D::Err>(op))?)
}
