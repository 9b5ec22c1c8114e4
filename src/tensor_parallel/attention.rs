use super::{gather::Parts, linear::relabel, local::Local};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, Divides, MaybeSharded, Product};
use crate::mask::AttentionMask;
use crate::ops::{
    AttentionOptions, AttentionScale, OpError, Real, Rotary, attend, kept_elements, rotate_heads as rotate_local_heads,
};
use crate::ranks::{ConstRankAxis, Ranks, Shard};
use dfdx::{shapes::HasShape, tensor::Tensor};

/// [`multi_head_attention`](crate::ops::multi_head_attention), of which each rank computes its heads.
///
/// `(B, Q, Product<Shard<H, Axis>, QKDim>), (B, K, Product<Shard<H, Axis>, QKDim>),
/// (B, K, Product<Shard<H, Axis>, VODim>), mask (B, Q, K), bias (Shard<H, Axis>, Q, K)
/// -> (B, Q, Product<Shard<H, Axis>, VODim>)`
///
/// Under one [`DropoutSeed`](crate::ops::DropoutSeed) dropout drops the attention weights that it would drop on one rank.
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ; [`OpError::DropoutRate`] unless `0 <= dropout < 1`.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::multi_head_attention};
/// ranks! { pub Tp = 2; }
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(Batch, SeqLen, Product<Shard<NumHeads, Tp>, HeadDim>), f32, Cpu> = Cpu::default().zeros();
///     let mask = AttentionMask::all_visible((Batch, SeqLen, SeqLen));
///     let options = AttentionOptions::default();
///     let attended = multi_head_attention(x.clone(), x.clone(), x, &mask, options, ranks).unwrap();
///     assert_eq!(attended.as_vec(), [0.0; 2]);
/// });
/// ```
pub fn multi_head_attention<
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
    options: AttentionOptions<Shard<H, Axis>, Q, K, E, D, T>,
    ranks: &Ranks<Axis>,
) -> Result<Tensor<(B, Q, Product<Shard<H, Axis>, VODim>), E, D, T>, OpError> {
    type Heads<H, Axis, Size> = Product<Local<Shard<H, Axis>>, Size>;
    const OP: &str = "attention";
    let ((batch, queries, _), (key_batch, keys, _)) = (*query.shape(), *key.shape());
    let (value_batch, value_keys, _) = *value.shape();
    let AttentionOptions { scale, mask_fill, dropout, bias } = options;
    // The scale may depend on the number of all heads.
    let scale = AttentionScale::Constant(scale.factor(H::SIZE, QKDim::SIZE));
    let local_bias = |bias: Tensor<(Shard<H, Axis>, Q, K), E, D, T>| {
        let (_, queries, keys) = *bias.shape();
        relabel(OP, bias, (Local::<Shard<H, Axis>>::default(), queries, keys))
    };
    let bias = bias.map(local_bias).transpose()?;
    let options = AttentionOptions { scale, mask_fill, dropout, bias };
    let query = relabel(OP, query, (batch, queries, Heads::<H, Axis, QKDim>::default()))?;
    let key = relabel(OP, key, (key_batch, keys, Heads::<H, Axis, QKDim>::default()))?;
    let value = relabel(OP, value, (value_batch, value_keys, Heads::<H, Axis, VODim>::default()))?;
    let mut kept = None;
    if T::OWNS_TAPE && dropout > 0.0 {
        let sizes = [batch.size(), H::SIZE, queries.size(), keys.size()];
        let whole = kept_elements::<(B, H, Q, K)>(dropout, &sizes, || query.device().random_u64())?;
        kept = Some(Parts::of(&sizes, 1, ranks.size()).part(&whole, ranks.rank()));
    }
    let attended = attend(query, key, value, mask, options, kept)?;
    relabel(OP, attended, (batch, queries, Product::default()))
}

/// Rotates the columns of this rank's heads by their positions, the first of which is 0.
pub(super) fn rotate_heads<
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
    relabel(OP, rotate_local_heads(input, 0, rotary)?, (batch, len, heads))
}
