use super::{OpError, Real, Reduction, cross_entropy::weighted_cross_entropy};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    ranks::{Partial, RankAxis, Shard},
    tokens::TokenIds,
};
use dfdx::{
    shapes::Rank0,
    tensor::{Tape, Tensor},
};
use typed_transformer_macros::panicking;

/// This rank's term of the [`cross_entropy`](fn@crate::ops::cross_entropy) of the whole batch, in nats. The sum over
/// the ranks is the loss.
///
/// `(Shard<B, W>, S, V), (Shard<B, W>, S) ids of V -> Partial<(), W>`
///
/// Each row is divided by the size of the whole batch, which the labels' [`Shard`] stores: the mean of the ranks' means
/// would be wrong where they have different numbers of rows. `S` must have the same size on all ranks.
///
/// # Errors
/// [`OpError::Whole`] if the labels' shard does not know the whole batch; [`OpError::Dim`] if two sizes of a run-time
/// dimension differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::Ranks};
/// ranks! { pub World; }
/// dims! { pub VocabSize = 4; pub SeqLen = 1; pub Batch; }
/// let losses = Ranks::<World>::in_threads(2, |ranks| {
///     // Two rows on the first rank and one on the second; label 2 has odds of e.
///     let rows = ranks.shard(Batch::new(3));
///     let labels = TokenIds::from_ids(&[2, 0, 0][rows.range()], None, (rows, SeqLen)).unwrap();
///     let logits = [0.0, 0.0, 1.0, 0.0].repeat(rows.size());
///     let logits: Tensor<_, f64, Cpu> = Cpu::default().tensor_from_vec(logits, (rows, SeqLen, VocabSize));
///     let loss = partial_cross_entropy(logits, &labels, Reduction::MeanAll);
///     loss.all_reduce(ranks).unwrap().array()
/// });
/// let expected = (3.0 + 1f64.exp()).ln() - 1.0 / 3.0;
/// assert!((losses[0] - expected).abs() < 1e-12);
/// assert_eq!(losses[0], losses[1]);
/// ```
#[panicking]
pub fn try_partial_cross_entropy<B: Dim, W: RankAxis, S: Dim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<(Shard<B, W>, S, V), E, D, T>,
    labels: &TokenIds<Shard<B, W>, S, V>,
    reduction: Reduction,
) -> Result<Partial<Tensor<Rank0, E, D, T>, W>, OpError> {
    let rows = labels.shape().0;
    let whole_batch =
        rows.whole_size().ok_or_else(|| OpError::Whole { op: "partial cross-entropy", dim: format!("{rows:?}") })?;
    let (ids, padding) = (labels.indices(), labels.pad_token_id());
    weighted_cross_entropy::<TokenIds<Shard<B, W>, S, V>, _, _, _, _, _, _>(
        logits,
        ids,
        padding,
        reduction,
        whole_batch,
        0.0,
    )
    .map(Partial::term)
}
