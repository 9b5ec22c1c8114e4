use super::{
    AttentionScale, MaskFill, OpError, Real,
    attention::try_masked_softmax,
    device_error,
    multi_head_attention::{attend_by_kernel, check_operands, weight_dropout},
    try_dropout, try_merge_heads, try_scale, try_split_heads,
};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded, Product},
    mask::AttentionMask,
};
use dfdx::{
    shapes::{Axes4, HasShape},
    tensor::Tensor,
    tensor_ops::{PermuteTo, ReshapeTo, TryMatMul},
};
use typed_transformer_macros::panicking;

/// [`multi_head_attention`](super::multi_head_attention) in which each head of the key and of the value serves a group
/// of `GroupSize` heads of the query ([Ainslie et al., 2023](https://arxiv.org/abs/2305.13245), 2.2).
/// `NumKeyValueHeads` is the paper's number of groups `G`. The heads of the query are
/// `Product<NumKeyValueHeads, GroupSize>`: every head of group `h` reads head `h` of the key.
///
/// `(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), (B, K, Product<NumKeyValueHeads, QKDim>), (B, K, Product<NumKeyValueHeads, VODim>),
/// mask (B, Q, K) -> (B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::grouped_query_attention, prelude::*};
/// dims! { pub NumKeyValueHeads = 1; pub GroupSize = 2; pub HeadDim = 1; pub QLen = 1; pub KLen = 2; pub Batch = 1; }
/// type NumHeads = Product<NumKeyValueHeads, GroupSize>;
/// let device = Cpu::default();
/// let query: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let key: Tensor<(Batch, KLen, Product<NumKeyValueHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let value: Tensor<(Batch, KLen, Product<NumKeyValueHeads, HeadDim>), f32, Cpu> = device.tensor(vec![1.0, 3.0]);
/// let mask = AttentionMask::all_visible((Batch, QLen, KLen));
/// let attended: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f32, Cpu> = grouped_query_attention(
///     query, key, value, &mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0,
/// );
/// assert_eq!(attended.as_vec(), [2.0, 2.0]);
/// ```
#[panicking]
pub fn try_grouped_query_attention<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    NumKeyValueHeads: ConstDim,
    GroupSize: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: f64,
) -> Result<Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>), E, D, T>, OpError> {
    try_biased_grouped_query_attention(query, key, value, None, mask, scale, mask_fill, dropout)
}

/// [`grouped_query_attention`] with a number that is added to the logit of each head, query and key, such as
/// [`alibi`](super::alibi).
///
/// `(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), (B, K, Product<NumKeyValueHeads, QKDim>), (B, K, Product<NumKeyValueHeads, VODim>),
/// bias (Product<NumKeyValueHeads, GroupSize>, Q, K), mask (B, Q, K) ->
/// (B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::grouped_query_attention_with_bias, prelude::*};
/// dims! { pub NumKeyValueHeads = 1; pub GroupSize = 2; pub HeadDim = 1; pub QLen = 1; pub KLen = 2; pub Batch = 1; }
/// type NumHeads = Product<NumKeyValueHeads, GroupSize>;
/// let device = Cpu::default();
/// let query: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f64, Cpu> = device.zeros();
/// let key: Tensor<(Batch, KLen, Product<NumKeyValueHeads, HeadDim>), f64, Cpu> = device.zeros();
/// let value: Tensor<(Batch, KLen, Product<NumKeyValueHeads, HeadDim>), f64, Cpu> = device.tensor(vec![0.0, 4.0]);
/// // The second head prefers the second key.
/// let bias: Tensor<(NumHeads, QLen, KLen), f64, Cpu> = device.tensor(vec![0.0, 0.0, 0.0, 3f64.ln()]);
/// let mask = AttentionMask::all_visible((Batch, QLen, KLen));
/// let attended: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f64, Cpu> = grouped_query_attention_with_bias(
///     query, key, value, bias, &mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0,
/// );
/// assert!((attended.as_vec()[0] - 2.0).abs() < 1e-12 && (attended.as_vec()[1] - 3.0).abs() < 1e-12);
/// ```
#[panicking]
#[allow(clippy::too_many_arguments)]
pub fn try_grouped_query_attention_with_bias<
    B: Dim,
    Q: Dim,
    K: Dim,
    NumKeyValueHeads: ConstDim,
    GroupSize: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, D, T>,
    bias: Tensor<(Product<NumKeyValueHeads, GroupSize>, Q, K), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: f64,
) -> Result<Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>), E, D, T>, OpError> {
    try_biased_grouped_query_attention(query, key, value, Some(bias), mask, scale, mask_fill, dropout)
}

/// Attention in groups of heads, by the kernel of the device or by the definition. Without a bias it is taken as zero.
#[allow(clippy::too_many_arguments)]
fn try_biased_grouped_query_attention<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    NumKeyValueHeads: ConstDim,
    GroupSize: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, D, T>,
    bias: Option<Tensor<(Product<NumKeyValueHeads, GroupSize>, Q, K), E, D, T>>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: f64,
) -> Result<Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>), E, D, T>, OpError> {
    const OP: &str = "attention";
    check_operands(&query, &key, &value, bias.as_ref(), mask)?;
    if D::HAS_KERNELS {
        let heads = NumKeyValueHeads::SIZE * GroupSize::SIZE;
        let dropout = weight_dropout::<_, _, _, E, D, T>(dropout, heads, mask, query.device())?;
        return attend_by_kernel(query, key, value, bias, mask, scale, mask_fill, dropout);
    }
    let ((batch, queries, _), (_, keys, _)) = (*query.shape(), *key.shape());
    let query = try_split_heads::<_, _, Product<NumKeyValueHeads, GroupSize>, QKDim, _, _, _>(query)?;
    let query = try_scale(query, scale.factor(NumKeyValueHeads::SIZE * GroupSize::SIZE, QKDim::SIZE))?;
    let (key, value) = (try_split_heads(key)?, try_split_heads(value)?);
    // The query heads of a group become rows of one matrix, so the product reads each head of the key once.
    let (kv_heads, rows) = (NumKeyValueHeads::default(), GroupSize::SIZE * queries.size());
    let heads = <Product<NumKeyValueHeads, GroupSize>>::default();
    let logits = || {
        let query = query.try_reshape_like(&(batch, kv_heads, rows, QKDim::default()))?;
        let key = key.try_permute::<_, Axes4<0, 1, 3, 2>>()?;
        query.try_matmul(key)?.try_reshape_like(&(batch, heads, queries, keys))
    };
    let logits = logits().map_err(device_error::<D::Err>(OP))?;
    let weights = try_dropout(try_masked_softmax(logits, bias, mask, mask_fill)?, dropout)?;
    let attended = || {
        let weights = weights.try_reshape_like(&(batch, kv_heads, rows, keys))?;
        weights.try_matmul(value)?.try_reshape_like(&(batch, heads, queries, VODim::default()))
    };
    try_merge_heads(attended().map_err(device_error::<D::Err>(OP))?)
}
