use super::{FitsLogits, OpError, Real, Reduction, ShardedLabels, cross_entropy::weighted_cross_entropy};
use crate::backend::{Backend, Tape};
use crate::dims::Dim;
use crate::ranks::{Partial, RankAxis};
use dfdx::shapes::{Rank0, Shape};
use dfdx::tensor::Tensor;

/// This rank's term of the [`cross_entropy`](fn@crate::ops::cross_entropy) of the whole batch, in nats. The sum over
/// the ranks is the loss.
///
/// `(Shard<B, W>, .., V), (Shard<B, W>, ..) indices of V -> Partial<(), W>`, for logits of 2 to 6 axes. The
/// [`ShardedLabels`] of logits `(Shard<B, W>, S, V)` are [`LabelIds`](crate::tokens::LabelIds), or
/// [`Indices`](crate::tokens::Indices) as for any other logits.
///
/// Each row is divided by the size of the whole batch, which the labels' [`Shard`](crate::ranks::Shard) stores: the
/// mean of the ranks' means would be wrong where they have different numbers of rows. The other axes must have the same
/// sizes on all ranks. Labels `(Shard<B, W>)` are sequences of one label each.
///
/// # Errors
/// [`OpError::TokensOfRanks`] with [`Reduction::MeanTokens`], because no rank knows how many tokens the others have;
/// [`OpError::Whole`] if the labels' shard does not know the whole batch.
///
/// ```
/// use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::Ranks};
/// ranks! { pub World; }
/// dims! { pub VocabSize = 4; pub SeqLen = 1; pub Batch; }
/// let losses = Ranks::<World>::in_threads(2, |ranks| {
///     // Two rows on the first rank and one on the second; label 2 has odds of e.
///     let rows = ranks.shard(Batch::new(3));
///     let labels = LabelIds::from_ids(&[2, 0, 0][rows.range().unwrap()], None, (rows, SeqLen)).unwrap();
///     let logits = [0.0, 0.0, 1.0, 0.0].repeat(rows.size());
///     let logits: Tensor<_, f64, Cpu> = Cpu::default().tensor_from_vec(logits, (rows, SeqLen, VocabSize));
///     let loss = partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
///     loss.all_reduce(ranks).unwrap().array()
/// });
/// let expected = (3.0 + 1f64.exp()).ln() - 1.0 / 3.0;
/// assert!((losses[0] - expected).abs() < 1e-12);
/// assert_eq!(losses[0], losses[1]);
/// ```
pub fn partial_cross_entropy<
    Dims: Shape,
    Positions: Shape,
    V: Dim,
    W: RankAxis,
    Ids,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    logits: Tensor<Dims, E, D, T>,
    labels: &Ids,
    reduction: Reduction,
) -> Result<Partial<Tensor<Rank0, E, D, T>, W>, OpError>
where
    Ids: ShardedLabels<Positions, V, W> + FitsLogits<Dims, Positions, V>,
{
    if reduction == Reduction::MeanTokens {
        return Err(OpError::TokensOfRanks);
    }
    let (ids, padding) = (labels.indices(), labels.padding());
    let whole_rows = labels
        .whole_rows()
        .ok_or_else(|| OpError::Whole { op: "partial cross-entropy", dim: format!("{:?}", ids.shape()) })?;
    let sizes: Vec<usize> = ids.shape().concrete().into();
    let of_row = &sizes[1..];
    // Labels `(Shard<B, W>)` are sequences of one label each.
    let len = *of_row.last().unwrap_or(&1);
    let sequences = whole_rows * (of_row.iter().product::<usize>() / len.max(1));
    let weighting = (reduction, len, sequences);
    weighted_cross_entropy::<Ids, _, _, _, _, _, _>(logits, ids, padding, weighting, 0.0).map(Partial::term)
}
