use super::{gather::Parts, linear::relabel, local::Local};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, Divides, MaybeSharded, Product},
    mask::AttentionMask,
    ops::{
        AttentionScale, MaskFill, OpError, Real, Rotary, kept_elements, try_attend_with_kept,
        try_multi_head_attention as try_local_attention, try_rotate_heads as try_rotate_local_heads,
    },
    ranks::{ConstRankAxis, Ranks, Shard},
};
use dfdx::{shapes::HasShape, tensor::Tensor};
use typed_transformer_macros::panicking;

/// [`multi_head_attention`](crate::ops::multi_head_attention), of which each rank computes its heads.
///
/// `(B, Q, Product<Shard<H, Axis>, QKDim>), (B, K, Product<Shard<H, Axis>, QKDim>),
/// (B, K, Product<Shard<H, Axis>, VODim>), mask (B, Q, K) -> (B, Q, Product<Shard<H, Axis>, VODim>)`
///
/// Dropout drops the attention weights that it would drop on one rank.
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::multi_head_attention};
/// ranks! { pub Tp = 2; }
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(Batch, SeqLen, Product<Shard<NumHeads, Tp>, HeadDim>), f32, Cpu> = Cpu::default().zeros();
///     let mask = AttentionMask::all_visible((Batch, SeqLen, SeqLen));
///     let (scale, mask_fill) = (AttentionScale::HeadDim, MaskFill::MinValue);
///     let attended = multi_head_attention(x.clone(), x.clone(), x, &mask, scale, mask_fill, 0.0, ranks);
///     assert_eq!(attended.as_vec(), [0.0; 2]);
/// });
/// ```
#[panicking]
#[allow(clippy::too_many_arguments)]
pub fn try_multi_head_attention<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    Axis: ConstRankAxis + Divides<H>,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<Shard<H, Axis>, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<Shard<H, Axis>, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<Shard<H, Axis>, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    mask_fill: MaskFill,
    dropout: f64,
    ranks: &Ranks<Axis>,
) -> Result<Tensor<(B, Q, Product<Shard<H, Axis>, VODim>), E, D, T>, OpError> {
    type Heads<H, Axis, Size> = Product<Local<Shard<H, Axis>>, Size>;
    const OP: &str = "attention";
    let ((batch, queries, _), (key_batch, keys, _)) = (*query.shape(), *key.shape());
    let (value_batch, value_keys, _) = *value.shape();
    // The scale may depend on the number of all heads.
    let scale = AttentionScale::Constant(scale.factor(H::SIZE, QKDim::SIZE));
    let query = relabel(OP, query, (batch, queries, Heads::<H, Axis, QKDim>::default()))?;
    let key = relabel(OP, key, (key_batch, keys, Heads::<H, Axis, QKDim>::default()))?;
    let value = relabel(OP, value, (value_batch, value_keys, Heads::<H, Axis, VODim>::default()))?;
    let attended = if !T::OWNS_TAPE || dropout == 0.0 {
        try_local_attention(query, key, value, mask, scale, mask_fill, dropout)?
    } else {
        let sizes = [batch.size(), H::SIZE, queries.size(), keys.size()];
        let is_kept = kept_elements(dropout, &sizes, query.device())?;
        let is_kept = Parts::of(&sizes, 1, ranks.size()).part(&is_kept, ranks.rank());
        try_attend_with_kept(query, key, value, mask, scale, mask_fill, is_kept, dropout)?
    };
    relabel(OP, attended, (batch, queries, Product::default()))
}

/// Rotates the columns of this rank's heads by their positions, the first of which is 0.
pub(super) fn try_rotate_heads<
    B: MaybeSharded,
    S: Dim,
    H: ConstDim,
    HeadDim: ConstDim,
    Axis: ConstRankAxis + Divides<H>,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    input: Tensor<(B, S, Product<Shard<H, Axis>, HeadDim>), E, D, T>,
    rotary: Rotary,
) -> Result<Tensor<(B, S, Product<Shard<H, Axis>, HeadDim>), E, D, T>, OpError> {
    const OP: &str = "attention";
    let (batch, len, heads) = *input.shape();
    let input = relabel(OP, input, (batch, len, Product::<Local<Shard<H, Axis>>, HeadDim>::default()))?;
    relabel(OP, try_rotate_local_heads(input, 0, rotary)?, (batch, len, heads))
}
