use super::{OpError, Real, failed, mismatch, real};
use crate::{dims::check_same_size, tokens::TokenIds};
use dfdx::{
    shapes::{Axis, ConstDim, Dim, HasShape, Rank0},
    tensor::{PutTape, SplitTape, Tape, Tensor},
    tensor_ops::{BroadcastTo, ChooseFrom, Device, MeanTo, SelectTo, SumTo, TryAdd, TryGt, TryMul},
};
use typed_transformer_macros::panicking;

const OP: &str = "cross-entropy";

/// How the losses of single positions become one number.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let pad: Fin<VocabSize> = Fin::literal::<2>();
/// // All tokens alike for the label, and the padding nearly certain for the padding.
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> =
///     device.tensor(vec![0.0, 0.0, 0.0, 0.0, 0.0, 100.0]);
/// let labels = TokenIds::from_ids(&[1, 2], Some(pad), (Batch, SeqLen))?;
/// let loss = |average| cross_entropy(logits.clone(), &labels, average).array();
/// assert!((loss(Reduction::MeanAll) - 3f64.ln() / 2.0).abs() < 1e-12);
/// assert!((loss(Reduction::MeanPerSequence) - 3f64.ln()).abs() < 1e-12);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The mean over every position, padding included (*Another annotated transformer*).
    MeanAll,
    /// The mean over the real labels of each sequence, then over the sequences (*The Typed
    /// Transformer*). A sequence of padding alone counts as 0, and the logits where the labels are
    /// padding may be anything.
    MeanPerSequence,
}

/// `-log softmax(logits)[label]`, averaged: how surprised the model is by the right tokens, in nats.
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
pub fn try_cross_entropy<B: Dim, S: Dim, V: ConstDim, E: Real, D: Device<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    average: Reduction,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    try_cross_entropy_with_label_smoothing(logits, labels, average, 0.0)
}

/// [`cross_entropy`] with labels of which a share is taken and spread over the whole vocabulary
/// ([Szegedy et al., 2015](https://arxiv.org/abs/1512.00567), 7; *Attention Is All You Need*, 5.4).
///
/// `(B, S, V), (B, S) ids of V -> ()`
///
/// `-Σₖ qₖ · log softmax(logits)ₖ`, where `q` is `smoothing / V` for every token and `1 - smoothing`
/// more for the right one, as in PyTorch.
///
/// # Errors
/// [`OpError::Smoothing`] if `smoothing` is not from 0 to 1; [`OpError::Dim`] if two sizes of a
/// run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::cross_entropy_with_label_smoothing, prelude::*};
/// dims! { pub VocabSize = 2; pub SeqLen = 1; pub Batch = 1; }
/// // The model is sure of the right token, by odds of e⁴.
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f64, Cpu> = Cpu::default().tensor(vec![2.0, -2.0]);
/// let labels = TokenIds::from_ids(&[0], None, (Batch, SeqLen))?;
/// let sure = cross_entropy(logits.clone(), &labels, Reduction::MeanAll);
/// let smoothed = cross_entropy_with_label_smoothing(logits, &labels, Reduction::MeanAll, 0.1);
/// // A twentieth of the label is on the other token.
/// assert!((smoothed.array() - (sure.array() + 0.05 * 4.0)).abs() < 1e-12);
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_cross_entropy_with_label_smoothing<
    B: Dim,
    S: Dim,
    V: ConstDim,
    E: Real,
    D: Device<E>,
    T: Tape<E, D>,
>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    average: Reduction,
    smoothing: f64,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    check_labels(&logits, labels, smoothing)?;
    let shape = labels.shape();
    let device = logits.device().clone();
    let define = || {
        let ids: Tensor<_, usize, D> = device.try_tensor_from_vec(labels.as_slice().to_vec(), shape)?;
        let weights: Tensor<_, E, D> = device.try_tensor_from_vec(weights(labels, average), shape)?;
        let logits = match average {
            Reduction::MeanAll => logits,
            // What does not count must not, whatever it is: 0 times infinity is none.
            Reduction::MeanPerSequence => {
                let counts = weights.try_gt(E::zero())?.try_broadcast_like::<_, Axis<2>>(logits.shape())?;
                let zeros = device.try_zeros_like(logits.shape())?;
                counts.try_choose(logits, zeros.retaped::<T>())?
            }
        };
        let (log_softmax, tape) = logits.try_log_softmax::<Axis<2>>()?.split_tape();
        let right: Tensor<(B, S), E, D, T> = log_softmax.clone().put_tape(tape).try_select(ids)?;
        // Where nothing is smoothed, a token that is impossible must not make the loss infinite.
        let log_likelihood = if smoothing == 0.0 {
            right
        } else {
            let any: Tensor<(B, S), E, D, T> = log_softmax.retaped::<T>().try_mean()?;
            let right = right.try_mul(real::<E>(1.0 - smoothing))?;
            right.try_add(any.try_mul(real::<E>(smoothing))?)?
        };
        log_likelihood.try_mul(weights.retaped::<T>())?.try_sum()?.try_negate()
    };
    define().map_err(failed::<D::Err>(OP))
}

/// What types do not say of the arguments of [`cross_entropy_with_label_smoothing`].
pub(crate) fn check_labels<B: Dim, S: Dim, V: ConstDim, E: Real, D: Device<E>, T>(
    logits: &Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    smoothing: f64,
) -> Result<(), OpError> {
    if !(0.0..=1.0).contains(&smoothing) {
        return Err(OpError::Smoothing { smoothing });
    }
    let ((batch, len, _), (label_batch, label_len)) = (*logits.shape(), labels.shape());
    check_same_size("the logits", batch, "the labels", label_batch).map_err(mismatch(OP))?;
    check_same_size("the logits", len, "the labels", label_len).map_err(mismatch(OP))
}

/// What each position counts for in the average, in row-major order.
pub(crate) fn weights<B: Dim, S: Dim, V: ConstDim, E: Real>(
    labels: &TokenIds<B, S, V>,
    average: Reduction,
) -> Vec<E> {
    let (batch, len) = (labels.shape().0.size(), labels.shape().1.size());
    match average {
        Reduction::MeanAll => vec![real(1.0 / (batch * len) as f64); batch * len],
        Reduction::MeanPerSequence => labels
            .padding_mask()
            .as_slice()
            .chunks(len.max(1))
            .flat_map(|row| {
                let labels = row.iter().filter(|real| **real).count().max(1);
                let weight = 1.0 / (batch * labels) as f64;
                row.iter().map(move |&is_real| real(if is_real { weight } else { 0.0 }))
            })
            .collect(),
    }
}
