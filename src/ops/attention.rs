mod checks;
mod options;
mod scale;

pub(super) use checks::{check_sizes, check_values};
pub use options::AttentionOptions;
pub use scale::AttentionScale;

use super::unnamed::{choose, constant, matmul, matmul_transposed, softmax};
use super::where_::bool_tensor;
use super::{MaskFill, OpError, Real, cast, device_error, elementwise, ensure_not_empty};
use crate::backend::{Arithmetic, Backend, Tape};
use crate::dims::{AnyDim, ConstDim, Dim, MaybeSharded, name};
use crate::mask::AttentionMask;
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::BroadcastTo;

/// `softmax(scale · q kᵀ + bias)` over the visible keys: how much each query attends to each key (the post's
/// `dot_product_attention_weights`, appendix).
///
/// `(B, H, Q, QKDim), (B, H, K, QKDim), mask (B, Q, K), bias (H, Q, K) -> (B, H, Q, K)`
///
/// Training drops each weight by the probability in the [options](AttentionOptions), as in all forms of attention.
///
/// # Errors
/// [`OpError::DropoutRate`] unless `0 <= dropout < 1`; [`OpError::ShardedDropout`] if heads that ranks divide are
/// trained with dropout.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 1; pub QKDim = 1; pub QLen = 1; pub KLen = 3; pub Batch = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, NumHeads, QLen, QKDim), f32, Cpu> = device.tensor(vec![1.0]);
/// let key: Tensor<(Batch, NumHeads, KLen, QKDim), f32, Cpu> = device.tensor(vec![5.0, 5.0, 9.0]);
/// let mask = AttentionMask::from_fn((Batch, QLen, KLen), |_, _, k| k < 2);
/// let weights = attention_weights(query, key, &mask, AttentionOptions::default())?;
/// assert_eq!(weights.as_vec(), [0.5, 0.5, 0.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// A query that sees no key, under both kinds of [`MaskFill`]:
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 1; pub QKDim = 1; pub QLen = 1; pub KLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, NumHeads, QLen, QKDim), f64, Cpu> = device.tensor(vec![1.0]);
/// let key: Tensor<(Batch, NumHeads, KLen, QKDim), f64, Cpu> = device.tensor(vec![0.0, 3f64.ln()]);
/// let blind = AttentionMask::from_fn((Batch, QLen, KLen), |_, _, _| false);
/// let weights = |mask_fill| {
///     let options = AttentionOptions { mask_fill, ..AttentionOptions::default() };
///     attention_weights(query.clone(), key.clone(), &blind, options).map(|weights| weights.as_vec())
/// };
/// assert_eq!(weights(MaskFill::MinValue)?, [0.5, 0.5]);
/// assert!((weights(MaskFill::Subtract(10_000.0))?[1] - 0.75).abs() < 1e-9);
/// # Ok::<(), OpError>(())
/// ```
pub fn attention_weights<
    B: MaybeSharded,
    H: AnyDim,
    Q: Dim,
    K: Dim,
    QKDim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, H, Q, QKDim), E, D, T>,
    key: Tensor<(B, H, K, QKDim), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    options: AttentionOptions<H, Q, K, E, D, T>,
) -> Result<Tensor<(B, H, Q, K), E, D, T>, OpError> {
    const OP: &str = "attention weights";
    let ((batch, heads, queries, _), (key_batch, key_heads, keys, _)) = (*query.shape(), *key.shape());
    let AttentionOptions { scale, mask_fill, dropout, bias } = options;
    let bias_shape = bias.as_ref().map(|bias| *bias.shape());
    check_sizes(OP, (batch, heads, queries), (key_batch, key_heads, keys), mask, bias_shape)?;
    ensure_not_empty(OP, &(batch, heads, queries, keys))?;
    if T::OWNS_TAPE && dropout > 0.0 && heads.size() != heads.whole_size() {
        return Err(OpError::ShardedDropout { heads: name::<H>() });
    }
    let query = super::scale(query, scale.factor(heads.whole_size(), QKDim::SIZE))?;
    let logits = matmul_transposed(OP, query, key)?; // (B, H, Q, K)
    super::dropout(masked_softmax(logits, bias, mask, mask_fill)?, dropout)
}

/// `softmax(logits + bias)` over the visible keys: `(B, H, Q, K), (H, Q, K), mask (B, Q, K) -> (B, H, Q, K)`. The sizes
/// [agree](check_sizes).
pub(super) fn masked_softmax<B: MaybeSharded, H: AnyDim, Q: Dim, K: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    mut logits: Tensor<(B, H, Q, K), E, D, T>,
    bias: Option<Tensor<(H, Q, K), E, D, T>>,
    mask: &AttentionMask<B, Q, K>,
    mask_fill: MaskFill,
) -> Result<Tensor<(B, H, Q, K), E, D, T>, OpError> {
    const OP: &str = "attention weights";
    let shape = *logits.shape();
    let visible = bool_tensor(OP, mask.as_slice(), mask.shape(), logits.device())?;
    let error = device_error::<D::Err>(OP);
    if let Some(bias) = bias {
        let bias = bias.try_broadcast_like::<_, Axis<0>>(&shape).map_err(&error)?;
        logits = elementwise(OP, Arithmetic::Add, logits, bias)?;
    }
    let visible = visible.try_broadcast_like::<_, Axis<1>>(&shape).map_err(&error)?;
    let number = match mask_fill {
        MaskFill::MinValue => E::min_value(),
        MaskFill::Subtract(amount) => cast(-amount),
    };
    let number = constant(OP, number, &shape, logits.device())?;
    let hidden = match mask_fill {
        MaskFill::MinValue => number,
        MaskFill::Subtract(_) => elementwise(OP, Arithmetic::Add, logits.clone(), number)?,
    };
    softmax(OP, choose(OP, visible, logits, hidden)?)
}

/// `softmax(scale · q kᵀ + bias) v`: the mean of the values, weighted by how much the query attends to their keys (the
/// post's `dot_product_attention`, appendix; [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762),
/// 3.2.1).
///
/// `(B, H, Q, QKDim), (B, H, K, QKDim), (B, H, K, VODim), mask (B, Q, K), bias (H, Q, K) -> (B, H, Q, VODim)`
///
/// # Errors
/// [`OpError::DropoutRate`] unless `0 <= dropout < 1`.
///
/// ```
/// use typed_transformer::{ops::attention, prelude::*};
/// dims! { pub NumHeads = 1; pub QKDim = 1; pub VODim = 2; pub QLen = 1; pub KLen; pub Batch = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, NumHeads, QLen, QKDim), f32, Cpu> = device.tensor(vec![1.0]);
/// let key = |keys: &[f32]| device.tensor((keys.to_vec(), (Batch, NumHeads, KLen::new(keys.len()), QKDim)));
/// let value = device.tensor((vec![1.0, 10.0, 3.0, 30.0, 7.0, 70.0], (Batch, NumHeads, KLen::new(3), VODim)));
/// let mask = AttentionMask::from_fn((Batch, QLen, KLen::new(3)), |_, _, k| k < 2);
/// let attend = |key| attention(query.clone(), key, value.clone(), &mask, AttentionOptions::default());
/// let attended: Tensor<(Batch, NumHeads, QLen, VODim), f32, Cpu> = attend(key(&[5.0, 5.0, 9.0]))?;
/// assert_eq!(attended.as_vec(), [2.0, 20.0]);
/// let error = attend(key(&[5.0, 5.0])).unwrap_err();
/// assert_eq!(error.to_string(), "attention: `KLen` is 2 in the key and 3 in the value");
/// # Ok::<(), OpError>(())
/// ```
pub fn attention<
    B: MaybeSharded,
    H: AnyDim,
    Q: Dim,
    K: Dim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, H, Q, QKDim), E, D, T>,
    key: Tensor<(B, H, K, QKDim), E, D, T>,
    value: Tensor<(B, H, K, VODim), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    options: AttentionOptions<H, Q, K, E, D, T>,
) -> Result<Tensor<(B, H, Q, VODim), E, D, T>, OpError> {
    let ((batch, heads, keys, _), (value_batch, value_heads, value_keys, _)) = (*key.shape(), *value.shape());
    check_values((batch, heads, keys), (value_batch, value_heads, value_keys))?;
    matmul("attention", attention_weights(query, key, mask, options)?, value)
}
