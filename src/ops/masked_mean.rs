use super::{OpError, Real, cast, device_error, dim_error};
use crate::{
    dims::{ConstDim, Dim, MaybeSharded, check_same_size},
    mask::PaddingMask,
};
use dfdx::{
    shapes::{Axis, HasShape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, Device, SumTo, TryMul},
};
use typed_transformer_macros::panicking;

/// The mean of each sequence's vectors over the positions that are not padding. A sequence of padding alone gives
/// zeros.
///
/// `(B, S, M), padding (B, S) -> (B, M)`
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
pub fn try_masked_mean<B: MaybeSharded, S: Dim, M: ConstDim, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, M), E, D, T>,
    padding: &PaddingMask<B, S>,
) -> Result<Tensor<(B, M), E, D, T>, OpError> {
    const OP: &str = "masked mean";
    let shape = *input.shape();
    let (batch, len) = padding.shape();
    check_same_size("the input", shape.0, "the padding", batch).map_err(dim_error(OP))?;
    check_same_size("the input", shape.1, "the padding", len).map_err(dim_error(OP))?;
    let weights = padding.as_slice().chunks(len.size().max(1)).flat_map(|row| {
        let count = row.iter().filter(|is_token| **is_token).count().max(1);
        row.iter().map(move |&is_token| cast(f64::from(is_token) / count as f64))
    });
    let compute = || {
        let weights = input.device().try_tensor_from_vec(weights.collect(), (batch, len))?;
        let weights = weights.retaped::<T>();
        let weighted = input.try_mul(weights.try_broadcast_like::<_, Axis<2>>(&shape)?)?;
        weighted.try_sum::<_, Axis<1>>()
    };
    compute().map_err(device_error::<D::Err>(OP))
}
