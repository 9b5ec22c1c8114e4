use super::{
    OpError, Padding, PadsStart, Real, WithoutLastOf, cast, cross_entropy::len_and_count, device_error, dim_error,
    unnamed::try_reshape_to,
};
use crate::dims::Dim;
use dfdx::{
    shapes::{Axis, HasShape, Shape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, Device, SumTo, TryMul},
};
use typed_transformer_macros::panicking;

/// The mean of each sequence's vectors over the positions that are not padding. A sequence of padding alone gives
/// zeros.
///
/// `(.., S, ..), padding (.., S) -> (.., ..)`, for tensors of 1 to 6 axes. The [`Padding`] has the first axes of the
/// tensor, such as `(B, S)` of `(B, S, M)`, and its last axis is the one of the positions.
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
/// fails.
///
/// ```
/// use typed_transformer::{ops::masked_mean, prelude::*};
/// dims! { pub VocabSize = 3; pub EmbedDim = 2; pub SeqLen = 3; pub Batch = 1; }
/// let ids = TokenIds::from_ids(&[1, 0, 2], Some(Fin::<VocabSize>::literal::<2>()), (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 3.0, 30.0, 7.0, 70.0]);
/// let mean: Tensor<(Batch, EmbedDim), f32, Cpu> = masked_mean(x, &ids.padding_mask());
/// assert_eq!(mean.as_vec(), [2.0, 20.0]);
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_masked_mean<Dims, Positions: Shape, Keeps, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    padding: &Keeps,
) -> Result<Tensor<Dims::Remaining, E, D, T>, OpError>
where
    Dims: WithoutLastOf<Positions>,
    Keeps: Padding<Positions> + PadsStart<Dims, Positions, Last: Dim>,
{
    const OP: &str = "masked mean";
    let shape = *input.shape();
    Keeps::check_sizes(shape, padding.shape()).map_err(dim_error(OP))?;
    let (len, sequences) = len_and_count(padding.shape());
    let is_token = padding.is_token();
    let weights = is_token.chunks(len.max(1)).flat_map(|row| {
        let count = row.iter().filter(|is_token| **is_token).count().max(1);
        row.iter().map(move |&is_token| cast(f64::from(is_token) / count as f64))
    });
    let vector_len = shape.num_elements() / is_token.len().max(1);
    let vectors = try_reshape_to(OP, input, [sequences, len, vector_len])?; // (sequence, position, element)
    let compute = || {
        let weights = vectors.device().try_tensor_from_vec(weights.collect(), [sequences, len])?.retaped::<T>();
        let weighted = weights.try_broadcast_like::<_, Axis<2>>(vectors.shape())?.try_mul(vectors)?;
        weighted.try_sum::<[usize; 2], Axis<1>>()
    };
    try_reshape_to(OP, compute().map_err(device_error::<D::Err>(OP))?, shape.remaining())
}
