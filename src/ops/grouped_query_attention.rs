use super::{AttentionOptions, OpError, Real, multi_head_attention::attend};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, Factor, MaybeSharded, Product};
use crate::mask::AttentionMask;
use dfdx::tensor::Tensor;

/// [`multi_head_attention`](super::multi_head_attention) in which each head of the key and of the value serves a group
/// of `GroupSize` heads of the query ([Ainslie et al., 2023](https://arxiv.org/abs/2305.13245), 2.2).
/// `NumKeyValueHeads` is the paper's number of groups `G`. The heads of the query are
/// `Product<NumKeyValueHeads, GroupSize>`: every head of group `h` reads head `h` of the key.
///
/// `(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), (B, K, Product<NumKeyValueHeads, QKDim>), (B, K, Product<NumKeyValueHeads, VODim>),
/// mask (B, Q, K) -> (B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>)`
///
/// # Errors
/// [`OpError::DropoutRate`] unless `0 <= dropout < 1`; [`OpError::ShardedDropout`] if heads that ranks divide are
/// trained with dropout.
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
    B: MaybeSharded,
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
