use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, Divides, MaybeSharded, Product};
use crate::mask::AttentionMask;
use crate::nn::group::ProcessGroup;
use crate::ops::{AttentionOptions, OpError, Real};
use crate::ranks::{ConstRankAxis, Ranks, Shard};
use dfdx::tensor::Tensor;

/// [`multi_head_attention`](crate::ops::multi_head_attention) of this rank's heads, with dropout, for a layer of your
/// own. Without dropout, that operation takes shards of heads as they are.
///
/// `(B, Q, Product<Shard<H, Axis>, QKDim>), (B, K, Product<Shard<H, Axis>, QKDim>),
/// (B, K, Product<Shard<H, Axis>, VODim>), mask (B, Q, K), bias (Shard<H, Axis>, Q, K)
/// -> (B, Q, Product<Shard<H, Axis>, VODim>)`
///
/// If all ranks set the same [`DropoutSeed`](crate::ops::DropoutSeed), they together drop the attention weights that
/// one process would drop.
///
/// # Errors
/// [`OpError::DropoutRate`] unless `0 <= dropout < 1`.
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
    ProcessGroup::of(ranks).attend_own_heads(query, key, value, mask, options)
}
