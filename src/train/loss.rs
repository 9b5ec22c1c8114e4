use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    ops::{OpError, Real, Reduction},
    tokens::TokenIds,
};
use dfdx::{
    shapes::Rank0,
    tensor::{Tape, Tensor},
};
use typed_transformer_macros::panicking;

/// [`ops::cross_entropy`](crate::ops::cross_entropy) by the device's kernel.
///
/// `(B, S, V), (B, S) ids of V -> ()`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
/// fails.
///
/// ```
/// use typed_transformer::{prelude::*, train::cross_entropy};
/// dims! { pub VocabSize = 4; pub SeqLen = 1; pub Batch = 1; }
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = Cpu::default().zeros();
/// let labels = TokenIds::from_ids(&[2], None, (Batch, SeqLen))?;
/// let loss = cross_entropy(logits, &labels, Reduction::MeanAll);
/// assert_eq!(loss.array(), 4f32.ln());
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_cross_entropy<B: Dim, S: Dim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    average: Reduction,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    D::try_cross_entropy_with_label_smoothing(logits, labels, average, 0.0)
}

/// [`ops::cross_entropy_with_label_smoothing`](crate::ops::cross_entropy_with_label_smoothing) by the device's kernel.
///
/// `(B, S, V), (B, S) ids of V -> ()`
///
/// # Errors
/// [`OpError::Smoothing`] if `smoothing` is not from 0 to 1; [`OpError::Dim`] if two sizes of a
/// run-time dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{prelude::*, train::cross_entropy_with_label_smoothing};
/// dims! { pub VocabSize = 4; pub SeqLen = 1; pub Batch = 1; }
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = Cpu::default().zeros();
/// let labels = TokenIds::from_ids(&[2], None, (Batch, SeqLen))?;
/// // Nothing is sure, so it does not matter how much of a label is where.
/// let loss = cross_entropy_with_label_smoothing(logits, &labels, Reduction::MeanAll, 0.1);
/// assert_eq!(loss.array(), 4f32.ln());
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_cross_entropy_with_label_smoothing<
    B: Dim,
    S: Dim,
    V: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &TokenIds<B, S, V>,
    average: Reduction,
    smoothing: f64,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    D::try_cross_entropy_with_label_smoothing(logits, labels, average, smoothing)
}
