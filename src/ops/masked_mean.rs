use super::contraction::{Labelled, contract};
use super::cross_entropy::{counted_rows, len_and_count, position_weights};
use super::unnamed::{Rows, reshape_to};
use super::{OpError, Padding, PadsStart, Real, Reduction, WithoutLastOf, device_error, dim_error, ensure_not_empty};
use crate::backend::{Backend, Tape};
use crate::dims::Dim;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;

/// The mean of each sequence's vectors over the positions that are not padding. A sequence of padding alone gives
/// zeros. Vectors at padding may be NaN.
///
/// `(.., S, ..), padding (.., S) -> (.., ..)`, for tensors of 1 to 6 axes. The [`Padding`] has the first axes of the
/// tensor, such as `(B, S)` of `(B, S, M)`, and its last axis is the one of the positions.
///
/// ```
/// use typed_transformer::{ops::masked_mean, prelude::*};
/// dims! { pub VocabSize = 3; pub EmbedDim = 2; pub SeqLen = 3; pub Batch = 1; }
/// let ids = TokenIds::from_ids(&[1, 0, 2], Some(Fin::<VocabSize>::literal::<2>()), (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 3.0, 30.0, 7.0, 70.0]);
/// let mean: Tensor<(Batch, EmbedDim), f32, Cpu> = masked_mean(x, &ids.padding_mask())?;
/// assert_eq!(mean.as_vec(), [2.0, 20.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn masked_mean<Dims, Positions: Shape, Keeps, E: Real, D: Backend<E>, T: Tape<E, D>>(
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
    ensure_not_empty(OP, &shape)?;
    let (len, sequences) = len_and_count(padding.shape());
    let is_token = padding.is_token();
    let weights: Vec<E> = position_weights(&is_token, len, Reduction::MeanPerSequence, 1);
    let width = Rows::new(shape.num_elements() / is_token.len().max(1));
    let vectors = reshape_to(OP, input, (Rows::new(is_token.len()), width))?;
    let vectors = reshape_to(OP, counted_rows(OP, vectors, &weights)?, [sequences, len, width.size()])?;
    let weights = vectors.device().try_tensor_from_vec(weights, [sequences, len]).map_err(device_error(OP))?;
    let (weights, vectors) = (Labelled::new(weights.retaped::<T>(), &[0, 1]), Labelled::new(vectors, &[0, 1, 2]));
    let means: Tensor<[usize; 2], E, D, T> = contract(OP, weights, vectors, &[0, 2])?;
    reshape_to(OP, means, shape.remaining())
}
