use super::views::{NamedAxes, Sizes, permuted};
use super::{OpError, Real, device_error};
use crate::backend::{Backend, Tape};
use crate::dims::PermutationOf;
use crate::internal::Internal;
use dfdx::tensor::Tensor;
use std::array;

/// Permutes the axes into the order of the result's type, for example `(A, B, C) -> (C, A, B)`.
///
/// A tensor that has an axis twice is refused: which of the two is meant is not known.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// let columns: Tensor<(EmbedDim, SeqLen), f32, Cpu> = permute(x)?;
/// assert_eq!(columns.as_vec(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// ```compile_fail,E0283
/// use typed_transformer::prelude::*;
/// dims! { pub SrcLen = 3; }
/// let x: Tensor<(SrcLen, SrcLen), f32, Cpu> = Cpu::default().zeros();
/// let y: Tensor<(SrcLen, SrcLen), f32, Cpu> = permute(x)?; // cannot infer `WhichAxis`
/// # Ok::<(), OpError>(())
/// ```
pub fn permute<Dims, To, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>, const N: usize>(
    input: Tensor<Dims, E, D, T>,
) -> Result<Tensor<To, E, D, T>, OpError>
where
    Dims: PermutationOf<To, WhichAxis> + NamedAxes<N>,
    To: NamedAxes<N>,
    [usize; N]: Sizes,
{
    const OP: &str = "permute";
    let order = Dims::order();
    let order = array::from_fn(|axis| order.get(axis).copied().unwrap_or(0));
    let input = Dims::into_sizes(OP, input, Internal(()))?;
    To::from_sizes(OP, permuted(input, order).map_err(device_error(OP))?, Internal(()))
}
