use super::{
    AttentionScale, MaskFill, OpError, Real, check_attention, failed, try_attention_weights, try_merge_heads,
    try_split_heads,
};
use crate::{dims::Product, mask::AttentionMask};
use dfdx::{
    shapes::{Axis, ConstDim, Dim, HasShape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, Device, SumTo, TryMul},
};
use typed_transformer_macros::panicking;

/// `(Σₖ weightₖ) · (Σₖ valueₖ)` for each query and head, in place of the `Σₖ weightₖ valueₖ` of
/// [`multi_head_attention`](super::multi_head_attention): what *Transformer from Scratch* computes.
///
/// The post sums a weight and its value over one letter each (`einsum("bhqk,bvhd->bqhd", …)`), not
/// over one for both. A query's weights add up to 1, so what is left is the sum of all values: for
/// every query the same, and whatever the mask hides. This is here so that its numbers can be
/// compared, and not to be used otherwise.
///
/// `(B, Q, Product<H, QKDim>), (B, K, Product<H, QKDim>), (B, K, Product<H, VODim>), mask (B, Q, K)
/// -> (B, Q, Product<H, VODim>)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::sum_of_values, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub QLen = 1; pub KLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let key: Tensor<(Batch, KLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let value: Tensor<(Batch, KLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     device.tensor(vec![1.0, 10.0, 3.0, 30.0]);
/// let first = AttentionMask::from_fn((Batch, QLen, KLen), |_, _, k| k == 0);
/// let sums = sum_of_values(query, key, value, &first, AttentionScale::EmbedDim, MaskFill::MinValue);
/// assert_eq!(sums.as_vec(), [4.0, 40.0]);
/// ```
#[panicking]
pub fn try_sum_of_values<
    B: Dim,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Device<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<H, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<H, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    scale: AttentionScale,
    masked: MaskFill,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    check_attention(&query, &key, &value, mask)?;
    let (batch, queries, _) = *query.shape();
    let shape = (batch, H::default(), queries, VODim::default());
    let (query, key) = (try_split_heads(query)?, try_split_heads(key)?);
    let weights = try_attention_weights(query, key, mask, scale, masked)?;
    let values = try_split_heads::<_, _, H, VODim, _, _, _>(value)?;
    let define = || {
        let weights = weights.try_sum::<_, Axis<3>>()?;
        let values = values.try_sum::<_, Axis<2>>()?;
        weights
            .try_broadcast_like::<_, Axis<3>>(&shape)?
            .try_mul(values.try_broadcast_like::<_, Axis<2>>(&shape)?)
    };
    try_merge_heads(define().map_err(failed::<D::Err>("sum of values"))?)
}
