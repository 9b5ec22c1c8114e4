//! Attention of heads that stand side by side in one axis; splitting that axis into heads, and merging them.

use super::attention::{bounded, check_sizes, check_values, masked_softmax};
use super::dropout::ensure_is_rate;
use super::unnamed::{matmul, matmul_transposed, reshape_to, swap_middle};
use super::{
    AttentionOptions, OpError, Real, drop_others, drops_elements, ensure_not_empty, kept_elements, kept_factor,
};
use crate::backend::{AttentionConfig, AttentionDims, AttentionDropout, Backend, Tape, attention_kernel, run_kernel};
use crate::dims::{ConstDim, DataDim, Dim, Factor, Product, name};
use crate::mask::AttentionMask;
use dfdx::shapes::HasShape;
use dfdx::tensor::Tensor;

const OP: &str = "attention";

/// [`attention`](super::attention) in each head, where query, key and value hold the heads side by side
/// ([*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 3.2.2, without its projections).
///
/// `(B, Q, Product<H, QKDim>), (B, K, Product<H, QKDim>), (B, K, Product<H, VODim>), mask (B, Q, K),
/// bias (H, Q, K) -> (B, Q, Product<H, VODim>)`
///
/// # Errors
/// [`OpError::DropoutRate`] unless `0 <= dropout < 1`; [`OpError::ShardedDropout`] if heads that ranks divide are
/// trained with dropout; [`OpError::DropoutOfShard`] if training drops weights of a part of a batch whose
/// place [`dropout`](super::dropout()) does not know.
///
/// ```
/// use typed_transformer::{ops::multi_head_attention, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub QLen = 1; pub KLen = 2; pub Batch; }
/// let device = Cpu::default();
/// let batch = Batch::new(1);
/// let query: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     device.zeros_like(&(batch, QLen, Product::default()));
/// let key = |rows| -> Tensor<(Batch, KLen, Product<NumHeads, HeadDim>), f32, Cpu> {
///     device.zeros_like(&(Batch::new(rows), KLen, Product::default()))
/// };
/// let value = device.tensor((vec![1.0, 10.0, 3.0, 30.0], *key(1).shape()));
/// let mask = AttentionMask::all_visible((batch, QLen, KLen));
/// let attend = |key| multi_head_attention(query.clone(), key, value.clone(), &mask, AttentionOptions::default());
/// assert_eq!(attend(key(1))?.as_vec(), [2.0, 20.0]);
/// let error = attend(key(3)).err().unwrap();
/// assert_eq!(error.to_string(), "attention: `Batch` is 1 in the query and 3 in the key");
/// # Ok::<(), OpError>(())
/// ```
pub fn multi_head_attention<
    B: DataDim,
    Q: Dim,
    K: Dim,
    H: Factor,
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
    options: AttentionOptions<H, Q, K, E, D, T>,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    attend(query, key, value, mask, options, None)
}

/// [`multi_head_attention`](super::multi_head_attention) in which each head of the key and of the value serves a group
/// of `GroupSize` heads of the query ([Ainslie et al., 2023](https://arxiv.org/abs/2305.13245), 2.2).
/// `NumKeyValueHeads` is the paper's number of groups `G`. The heads of the query are
/// `Product<NumKeyValueHeads, GroupSize>`: every head of group `h` reads head `h` of the key.
///
/// `(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), (B, K, Product<NumKeyValueHeads, QKDim>), (B, K, Product<NumKeyValueHeads, VODim>),
/// mask (B, Q, K), bias (Product<NumKeyValueHeads, GroupSize>, Q, K)
/// -> (B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>)`
///
/// # Errors
/// Those of [`multi_head_attention`](super::multi_head_attention).
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
/// let attended: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     grouped_query_attention(query, key, value, &mask, AttentionOptions::default())?;
/// assert_eq!(attended.as_vec(), [2.0, 2.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn grouped_query_attention<
    B: DataDim,
    Q: Dim,
    K: Dim,
    NumKeyValueHeads: Factor,
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
    options: AttentionOptions<Product<NumKeyValueHeads, GroupSize>, Q, K, E, D, T>,
) -> Result<Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>), E, D, T>, OpError> {
    attend(query, key, value, mask, options, None)
}

/// Splits a projection into heads (the post's `_project`, second half).
///
/// `(B, S, Product<H, HeadDim>) -> (B, H, S, HeadDim)`
///
/// Nothing is checked at run time: only a dimension of type `Product<H, HeadDim>` is accepted.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// let x: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0]);
/// let heads: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu> = split_heads(x)?;
/// assert_eq!(heads.as_vec(), [1.0, 2.0, 10.0, 20.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn split_heads<B: DataDim, S: Dim, H: Factor, HeadDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, Product<H, HeadDim>), E, D, T>,
) -> Result<Tensor<(B, H, S, HeadDim), E, D, T>, OpError> {
    const OP: &str = "split heads";
    let (batch, len, _) = *input.shape();
    let heads = reshape_to(OP, input, (batch, len, H::default(), HeadDim::default()))?;
    swap_middle(OP, heads)
}

/// Merges the heads into one dimension: the inverse of [`split_heads`].
///
/// `(B, H, S, HeadDim) -> (B, S, Product<H, HeadDim>)`
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// let heads: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 10.0, 20.0]);
/// let x: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> = merge_heads(heads)?;
/// assert_eq!(x.as_vec(), [1.0, 10.0, 2.0, 20.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn merge_heads<B: DataDim, S: Dim, H: Factor, HeadDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    heads: Tensor<(B, H, S, HeadDim), E, D, T>,
) -> Result<Tensor<(B, S, Product<H, HeadDim>), E, D, T>, OpError> {
    const OP: &str = "merge heads";
    let (batch, _, len, _) = *heads.shape();
    reshape_to(OP, swap_middle(OP, heads)?, (batch, len, Product::default()))
}

/// Attention in each of `H` heads. Each group of `H / NumKeyValueHeads` neighbouring heads of the query shares one head
/// of the key and of the value. `kept` says which weights, `(B, H, Q, K)`, dropout keeps. If it is `None`, training
/// draws them.
pub(crate) fn attend<B: DataDim, Q: Dim, K: Dim, H, NumKeyValueHeads, QKDim: ConstDim, VODim: ConstDim, E, D, T>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    options: AttentionOptions<H, Q, K, E, D, T>,
    mut kept: Option<Vec<bool>>,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError>
where
    H: Factor,
    NumKeyValueHeads: Factor,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
{
    let AttentionOptions { scale, mask_fill, dropout, bias } = options;
    let ((batch, queries, _), (key_batch, keys, _), (value_batch, value_keys, _)) =
        (*query.shape(), *key.shape(), *value.shape());
    let (heads, bias_shape) = (H::default(), bias.as_ref().map(|bias| *bias.shape()));
    check_sizes(OP, (batch, heads, queries), (key_batch, heads, keys), mask, bias_shape)?;
    check_values((key_batch, heads, keys), (value_batch, heads, value_keys))?;
    ensure_is_rate(dropout)?;
    ensure_not_empty(OP, &(queries, keys, QKDim::default(), VODim::default()))?;
    if kept.is_none() && drops_elements::<E, D, T>(dropout) {
        if H::SIZE != H::WHOLE_SIZE {
            return Err(OpError::ShardedDropout { heads: name::<H>() });
        }
        let sizes = [batch.size(), H::SIZE, queries.size(), keys.size()];
        // After this check the rank has all heads, so they are those of `H::Whole`.
        kept = Some(kept_elements::<(B, H::Whole, Q, K)>(dropout, &sizes, || query.device().random_u64())?);
    }
    let factor = scale.factor(H::WHOLE_SIZE, QKDim::SIZE);
    if D::HAS_KERNELS {
        let dims = AttentionDims {
            queries: queries.size(),
            keys: keys.size(),
            heads: H::SIZE,
            key_value_heads: NumKeyValueHeads::SIZE,
            qk_dim: QKDim::SIZE,
            vo_dim: VODim::SIZE,
        };
        let config = AttentionConfig { dims, scale: factor as f32, mask_fill: bounded::<E>(mask_fill) };
        let dropout = kept.map(|is_kept| AttentionDropout { is_kept, factor: kept_factor(dropout) as f32 });
        return run_kernel(OP, (batch, queries, Product::default()), |tape| {
            let operands = [D::read(query, tape)?, D::read(key, tape)?, D::read(value, tape)?];
            let bias = bias.map(|bias| D::read(bias, tape)).transpose()?;
            attention_kernel(operands, bias, mask.rule(), dropout, config)
        });
    }
    if batch.size() == 0 {
        // dfdx's softmax needs elements, and neither the query nor the result has one.
        return reshape_to(OP, query, (batch, queries, Product::default()));
    }
    let query: Tensor<(B, H, Q, QKDim), E, D, T> = split_heads(super::scale(query, factor)?)?;
    let (key, value) = (split_heads(key)?, split_heads(value)?);
    // The queries of a group of heads become rows of one matrix, so the product reads each head of the key once.
    let kv_heads = NumKeyValueHeads::default();
    let rows = H::SIZE / NumKeyValueHeads::SIZE.max(1) * queries.size();
    let query = reshape_to(OP, query, (batch, kv_heads, rows, QKDim::default()))?;
    let logits = reshape_to(OP, matmul_transposed(OP, query, key)?, (batch, heads, queries, keys))?;
    let mut weights = masked_softmax(logits, bias, mask, mask_fill)?;
    if let Some(kept) = kept {
        weights = drop_others(weights, kept, dropout)?;
    }
    let weights = reshape_to(OP, weights, (batch, kv_heads, rows, keys))?;
    merge_heads(reshape_to(OP, matmul(OP, weights, value)?, (batch, heads, queries, VODim::default()))?)
}
