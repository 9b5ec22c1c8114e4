use super::norms::softmax;
use super::unnamed::{choose, constant, matmul, matmul_transposed, repeated};
use super::where_::bool_tensor;
use super::{
    MaskFill, OpError, Real, cast, device_error, dim_error, dropout_by, drops_elements, elementwise, ensure_not_empty,
};
use crate::backend::{Arithmetic, Backend, Tape};
use crate::dims::{AnyDim, ConstDim, DataDim, Dim, NamedShape, axis, check_same_size, name};
use crate::mask::AttentionMask;
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::{Cpu, NoneTape, Storage, Tensor};
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
/// trained with dropout; [`OpError::DropoutOfShard`] if training drops weights of a part of a batch whose
/// place [`dropout`](super::dropout()) does not know.
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
    B: DataDim,
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
    if drops_elements::<E, D, T>(dropout) && heads.size() != heads.whole_size() {
        return Err(OpError::ShardedDropout { heads: name::<H>() });
    }
    let query = super::scale(query, scale.factor(heads.whole_size(), QKDim::SIZE))?;
    let logits = matmul_transposed(OP, query, key)?; // (B, H, Q, K)
    // `H` is left out of dropout's check: its size is whole here, although its type may be the shard of a single rank.
    dropout_by::<(B, Q, K), _, _, _, _>(masked_softmax(logits, bias, mask, mask_fill)?, dropout)
}

/// `softmax(logits + bias)` over the visible keys: `(B, H, Q, K), (H, Q, K), mask (B, Q, K) -> (B, H, Q, K)`. The sizes
/// [agree](check_sizes).
pub(super) fn masked_softmax<B: DataDim, H: AnyDim, Q: Dim, K: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    mut logits: Tensor<(B, H, Q, K), E, D, T>,
    bias: Option<Tensor<(H, Q, K), E, D, T>>,
    mask: &AttentionMask<B, Q, K>,
    mask_fill: MaskFill,
) -> Result<Tensor<(B, H, Q, K), E, D, T>, OpError> {
    const OP: &str = "attention weights";
    let shape = *logits.shape();
    let visible = bool_tensor(OP, mask.as_slice().to_vec(), mask.shape(), logits.device())?;
    if let Some(bias) = bias {
        let bias = bias.try_broadcast_like::<_, Axis<0>>(&shape).map_err(device_error(OP))?;
        logits = elementwise(OP, Arithmetic::Add, logits, bias)?;
    }
    let visible = repeated::<E, 1, _, _, _>(OP, visible, &shape)?;
    let everywhere = |number: E| constant(OP, number, &shape, logits.device());
    let hidden = match bounded::<E>(mask_fill) {
        MaskFill::MinValue => everywhere(E::min_value())?,
        MaskFill::Subtract(amount) => elementwise(OP, Arithmetic::Add, logits.clone(), everywhere(cast(-amount))?)?,
    };
    softmax(OP, false, choose(OP, visible, logits, hidden)?, axis::<K>())
}

/// The same fill with an amount that leaves a logit finite in `E`: for a query that sees no key, the softmax of
/// infinite logits is NaN.
pub(super) fn bounded<E: Real>(mask_fill: MaskFill) -> MaskFill {
    let largest = E::max_value().to_f64().unwrap_or(f64::MAX);
    match mask_fill {
        MaskFill::MinValue => MaskFill::MinValue,
        MaskFill::Subtract(amount) => MaskFill::Subtract(amount.min(largest / 2.0)),
    }
}

/// `softmax(scale · q kᵀ + bias) v`: the mean of the values, weighted by how much the query attends to their keys (the
/// post's `dot_product_attention`, appendix; [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 3.2.1).
///
/// `(B, H, Q, QKDim), (B, H, K, QKDim), (B, H, K, VODim), mask (B, Q, K), bias (H, Q, K) -> (B, H, Q, VODim)`
///
/// # Errors
/// Those of [`attention_weights`].
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
    B: DataDim,
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

/// The scale, the mask's fill, dropout and bias of attention: `softmax(scale · q kᵀ + bias) v`.
///
/// ```
/// use typed_transformer::{ops::{AttentionOptions, alibi}, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 3; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let mask = AttentionMask::from_fn((Batch, SeqLen, SeqLen), |_, q, k| k <= q);
/// let bias = alibi(&device, NumHeads, 0, SeqLen, SeqLen)?;
/// let options = AttentionOptions { bias: Some(bias), dropout: 0.1, ..AttentionOptions::default() };
/// let attended = multi_head_attention(x.clone(), x.clone(), x, &mask, options)?;
/// assert_eq!(attended.as_vec(), [0.0; 6]);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone)]
pub struct AttentionOptions<H: AnyDim, Q: Dim, K: Dim, E: Real = f32, D: Storage<E> = Cpu, T = NoneTape> {
    /// The factor of `q kᵀ`: `1 / √QKDim` by default.
    pub scale: AttentionScale,
    /// What a hidden key's logit becomes: the lowest number by default.
    pub mask_fill: MaskFill,
    /// The probability with which training drops a weight: 0 by default.
    pub dropout: f64,
    /// A number that is added to the logit of each head, query and key, such as [`alibi`](crate::ops::alibi) or the
    /// learned bias of relative positions ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683), 2.1); none by
    /// default. It has the tape of the query: a constant bias gets it by `alibi(..)?.retaped()`.
    pub bias: Option<Tensor<(H, Q, K), E, D, T>>,
}

impl<H: AnyDim, Q: Dim, K: Dim, E: Real, D: Storage<E>, T> Default for AttentionOptions<H, Q, K, E, D, T> {
    fn default() -> Self {
        Self { scale: AttentionScale::HeadDim, mask_fill: MaskFill::MinValue, dropout: 0.0, bias: None }
    }
}

crate::error::debug_as!(
    [H: AnyDim, Q: Dim, K: Dim, E: Real, D: Storage<E>, T] AttentionOptions<H, Q, K, E, D, T>,
    |Self { scale, mask_fill, dropout, bias }, f| {
        let bias = bias.as_ref().map(HasShape::shape);
        write!(f, "AttentionOptions ({scale:?}, {mask_fill:?}, dropout {dropout}, bias {bias:?})")
    }
);

/// The factor by which attention multiplies the product of a query and a key. It keeps the logits from
/// growing with the number of columns.
///
/// ```
/// use typed_transformer::{nn::Conventions, prelude::*};
/// assert_eq!(TypedTransformer::ATTENTION_SCALE, AttentionScale::HeadDim);
/// assert_eq!(AttentionScale::One.factor(4, 9), 1.0);
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct AttentionScale(Scale);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    HeadDim,
    EmbedDim,
    One,
    Constant(f64),
}

// These are not public variants: rustc writes a user's dimension with the path of its module if a public type or
// variant has the same name.
#[allow(non_upper_case_globals)]
impl AttentionScale {
    /// `1 / √QKDim`, for the size of one head (*Attention Is All You Need*, 3.2.1).
    pub const HeadDim: Self = Self(Scale::HeadDim);
    /// `1 / √(H · QKDim)`, for the size of all heads together. This size is the width of the embedding if the
    /// heads divide it among themselves (*Transformer from Scratch*).
    pub const EmbedDim: Self = Self(Scale::EmbedDim);
    /// 1: the product itself, as in T5 ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683)).
    pub const One: Self = Self(Scale::One);

    /// This number.
    #[allow(non_snake_case)]
    #[must_use]
    pub const fn Constant(factor: f64) -> Self {
        Self(Scale::Constant(factor))
    }

    /// The factor for `heads` heads of `qk_dim` columns.
    ///
    /// ```
    /// use typed_transformer::ops::AttentionScale;
    /// assert_eq!(AttentionScale::HeadDim.factor(4, 9), 1.0 / 3.0);
    /// assert_eq!(AttentionScale::EmbedDim.factor(4, 9), 1.0 / 6.0);
    /// assert_eq!(AttentionScale::Constant(0.25).factor(4, 9), 0.25);
    /// ```
    pub fn factor(self, heads: usize, qk_dim: usize) -> f64 {
        match self.0 {
            Scale::HeadDim => 1.0 / (qk_dim as f64).sqrt(),
            Scale::EmbedDim => 1.0 / ((heads * qk_dim) as f64).sqrt(),
            Scale::One => 1.0,
            Scale::Constant(factor) => factor,
        }
    }
}

crate::error::debug_as!([] AttentionScale, |this, f| this.0.fmt(f));

/// Compares a query `(B, H, Q, …)` with its key `(B, H, K, …)`, their mask and their bias.
pub(super) fn check_sizes<B: DataDim, H: AnyDim, Q: Dim, K: Dim>(
    op: &'static str,
    (batch, heads, queries): (B, H, Q),
    (key_batch, key_heads, keys): (B, H, K),
    mask: &AttentionMask<B, Q, K>,
    bias: Option<(H, Q, K)>,
) -> Result<(), OpError> {
    let (mask_batch, mask_queries, mask_keys) = mask.shape();
    let check = || {
        (batch, heads).check_same_sizes("the query", (key_batch, key_heads), "the key")?;
        (batch, queries).check_same_sizes("the query", (mask_batch, mask_queries), "the mask")?;
        check_same_size("the key", keys, "the mask", mask_keys)?;
        let Some((bias_heads, bias_queries, bias_keys)) = bias else { return Ok(()) };
        (heads, queries).check_same_sizes("the query", (bias_heads, bias_queries), "the bias")?;
        check_same_size("the key", keys, "the bias", bias_keys)
    };
    check().map_err(dim_error(op))
}

/// Checks that there is a value `(B, H, K, …)` for each key.
pub(super) fn check_values<B: DataDim, H: AnyDim, K: Dim>(key: (B, H, K), value: (B, H, K)) -> Result<(), OpError> {
    key.check_same_sizes("the key", value, "the value").map_err(dim_error("attention"))
}
