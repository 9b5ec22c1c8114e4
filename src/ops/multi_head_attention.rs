use super::{
    AttentionScale, MaskFill, OpError, Real,
    attention::{check_attention, check_bias, try_biased_attention},
    dim_error,
    dropout::ensure_is_rate,
    kept_elements, kept_factor, try_attention_weights, try_drop_others, try_merge_heads, try_split_heads,
    unnamed::try_matmul,
};
use crate::{
    backend::{AttentionConfig, AttentionDims, Backend, Tape, WeightDropout, attention_kernel, run_kernel},
    dims::{ConstDim, Dim, MaybeSharded, Product, check_same_size},
    mask::AttentionMask,
};
use dfdx::{shapes::HasShape, tensor::Tensor};
use typed_transformer_macros::panicking;

/// [`attention`](super::attention) in each head, where query, key and value hold the heads side by side
/// ([*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 3.2.2, without its projections).
///
/// `(B, Q, Product<H, QKDim>), (B, K, Product<H, QKDim>), (B, K, Product<H, VODim>), mask (B, Q, K)
/// -> (B, Q, Product<H, VODim>)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub QLen = 1; pub KLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let key: Tensor<(Batch, KLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let value: Tensor<(Batch, KLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     device.tensor(vec![1.0, 10.0, 3.0, 30.0]);
/// let mask = AttentionMask::all_visible((Batch, QLen, KLen));
/// let attended = multi_head_attention(
///     query, key, value, &mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0,
/// );
/// assert_eq!(attended.as_vec(), [2.0, 20.0]);
/// ```
///
/// ```
/// use typed_transformer::{ops::try_multi_head_attention, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub Len = 1; pub Batch; }
/// let device = Cpu::default();
/// let heads = |rows| -> Tensor<(Batch, Len, Product<NumHeads, HeadDim>), f32, Cpu> {
///     device.zeros_like(&(Batch::new(rows), Len, Product::default()))
/// };
/// let mask = AttentionMask::all_visible((Batch::new(2), Len, Len));
/// let (scale, mask_fill) = (AttentionScale::HeadDim, MaskFill::MinValue);
/// let attended =
///     try_multi_head_attention(heads(2), heads(3), heads(3), &mask, scale, mask_fill, 0.0);
/// assert_eq!(
///     attended.err().unwrap().to_string(),
///     "attention: `Batch` is 2 in the query and 3 in the key",
/// );
/// ```
#[panicking]
pub fn try_multi_head_attention<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<H, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<H, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: f64,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    try_biased_multi_head_attention(query, key, value, None, mask, scale, mask_fill, dropout)
}

/// [`attention_with_bias`](super::attention_with_bias) in each head, where query, key and value hold the heads side by
/// side.
///
/// `(B, Q, Product<H, QKDim>), (B, K, Product<H, QKDim>), (B, K, Product<H, VODim>), bias (H, Q, K), mask (B, Q, K)
/// -> (B, Q, Product<H, VODim>)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::{alibi, multi_head_attention_with_bias}, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 3; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let mask = AttentionMask::from_fn((Batch, SeqLen, SeqLen), |_, q, k| k <= q);
/// let (scale, mask_fill) = (AttentionScale::HeadDim, MaskFill::MinValue);
/// let bias: Tensor<(NumHeads, SeqLen, SeqLen), f32, Cpu> = alibi(&device, NumHeads, 0, SeqLen, SeqLen);
/// let attended =
///     multi_head_attention_with_bias(x.clone(), x.clone(), x, bias, &mask, scale, mask_fill, 0.0);
/// assert_eq!(attended.as_vec(), [0.0; 6]);
/// ```
#[panicking]
#[allow(clippy::too_many_arguments)]
pub fn try_multi_head_attention_with_bias<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<H, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<H, VODim>), E, D, T>,
    bias: Tensor<(H, Q, K), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: f64,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    try_biased_multi_head_attention(query, key, value, Some(bias), mask, scale, mask_fill, dropout)
}

/// Attention in each head, by the kernel of the device or by the definition. Without a bias it is taken as zero.
#[allow(clippy::too_many_arguments)]
fn try_biased_multi_head_attention<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<H, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<H, VODim>), E, D, T>,
    bias: Option<Tensor<(H, Q, K), E, D, T>>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: f64,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    check_operands(&query, &key, &value, bias.as_ref(), mask)?;
    if D::HAS_KERNELS {
        let dropout = weight_dropout::<_, _, _, E, D, T>(dropout, H::SIZE, mask, query.device())?;
        return attend_by_kernel(query, key, value, bias, mask, scale, mask_fill, dropout);
    }
    let (query, key, value) = (try_split_heads(query)?, try_split_heads(key)?, try_split_heads(value)?);
    try_merge_heads(try_biased_attention(query, key, value, bias, mask, scale, mask_fill, dropout)?)
}

/// Compares the run-time sizes of the operands.
pub(super) fn check_operands<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    Queries: Dim,
    Keys: Dim,
    Values: Dim,
    E: Real,
    D: Backend<E>,
    T,
>(
    query: &Tensor<(B, Q, Queries), E, D, T>,
    key: &Tensor<(B, K, Keys), E, D, T>,
    value: &Tensor<(B, K, Values), E, D, T>,
    bias: Option<&Tensor<(H, Q, K), E, D, T>>,
    mask: &AttentionMask<B, Q, K>,
) -> Result<(), OpError> {
    let ((batch, queries, _), (key_batch, keys, _)) = (*query.shape(), *key.shape());
    let (value_batch, value_keys, _) = *value.shape();
    check_attention((batch, queries), (key_batch, keys), mask)?;
    let check = || {
        check_same_size("the key", key_batch, "the value", value_batch)?;
        check_same_size("the key", keys, "the value", value_keys)?;
        bias.map_or(Ok(()), |bias| check_bias((H::default(), queries, keys), *bias.shape()))
    };
    check().map_err(dim_error("attention"))
}

/// Draws the weights that dropout keeps while training.
pub(super) fn weight_dropout<B: MaybeSharded, Q: Dim, K: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    rate: f64,
    heads: usize,
    mask: &AttentionMask<B, Q, K>,
    device: &D,
) -> Result<Option<WeightDropout>, OpError> {
    ensure_is_rate(rate)?;
    if !T::OWNS_TAPE || rate == 0.0 {
        return Ok(None);
    }
    let (batch, queries, keys) = mask.shape();
    let is_kept = kept_elements(rate, &[batch.size(), heads, queries.size(), keys.size()], device)?;
    Ok(Some(WeightDropout { is_kept, factor: kept_factor(rate) as f32 }))
}

/// [`try_multi_head_attention`] in which `is_kept`, `(B, H, Q, K)`, says which weights dropout keeps.
#[allow(clippy::too_many_arguments)]
pub(crate) fn try_attend_with_kept<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<H, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<H, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    is_kept: Vec<bool>,
    rate: f64,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    check_operands::<_, _, _, H, _, _, _, _, _, _>(&query, &key, &value, None, mask)?;
    if D::HAS_KERNELS {
        let dropout = WeightDropout { is_kept, factor: kept_factor(rate) as f32 };
        return attend_by_kernel(query, key, value, None, mask, scale, mask_fill, Some(dropout));
    }
    let (query, key, value) = (try_split_heads(query)?, try_split_heads(key)?, try_split_heads(value)?);
    let weights = try_drop_others(try_attention_weights(query, key, mask, scale, mask_fill)?, is_kept, rate)?;
    try_merge_heads(try_matmul("attention", weights, value)?)
}

/// Attention of heads whose groups may share a head of the keys, by the kernel of the device.
#[allow(clippy::too_many_arguments)]
pub(super) fn attend_by_kernel<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    NumKeyValueHeads: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, D, T>,
    bias: Option<Tensor<(H, Q, K), E, D, T>>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: Option<WeightDropout>,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    let (batch, queries, keys) = mask.shape();
    let dims = AttentionDims {
        queries: queries.size(),
        keys: keys.size(),
        heads: H::SIZE,
        key_value_heads: NumKeyValueHeads::SIZE,
        qk_dim: QKDim::SIZE,
        vo_dim: VODim::SIZE,
    };
    let config = AttentionConfig { dims, scale: scale.factor(H::SIZE, QKDim::SIZE) as f32, mask_fill };
    run_kernel("attention", (batch, queries, Product::default()), T::default(), |tape| {
        let operands = [D::read(query, tape)?, D::read(key, tape)?, D::read(value, tape)?];
        let bias = bias.map(|bias| D::read(bias, tape)).transpose()?;
        Ok(attention_kernel(operands, bias, mask.rule(), dropout, config)?)
    })
}
