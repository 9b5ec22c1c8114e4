//! A batch that ranks divide: this rank's terms of losses and means, and the rows of all ranks.

use super::collective::run_and_record;
use super::cross_entropy::weighted_cross_entropy;
use super::reduce::mean_of_all;
use super::{FitsLogits, OpError, Real, Reduction, ShardedLabels, device_error, dim_error, ensure_not_empty, scale};
use crate::backend::{Backend, Tape};
use crate::dims::{Dim, HasAxis, WholeShape, check_same_size};
use crate::ranks::{Element, Partial, RankAxis, Ranks, Shard};
use dfdx::shapes::{Axis, HasShape, Shape};
use dfdx::tensor::{PutTape, SplitTape, Tensor};
use dfdx::tensor_ops::Device;

/// This rank's term of the [`cross_entropy`](fn@crate::ops::cross_entropy) of the whole batch, in nats. The sum over
/// the ranks is the loss.
///
/// `(Shard<B, W>, .., V), (Shard<B, W>, ..) indices of V -> Partial<(), W>`, for logits of 2 to 6 axes. The
/// [`ShardedLabels`] of logits `(Shard<B, W>, S, V)` are [`LabelIds`](crate::tokens::LabelIds), or
/// [`Indices`](crate::tokens::Indices) as for any other logits.
///
/// A mean divides by the size of the whole batch, which the labels' [`Shard`] stores: the mean of the ranks' means is
/// wrong where ranks have different numbers of rows. The other axes must have the same sizes on all ranks. Labels
/// `(Shard<B, W>)` are sequences of one label each.
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
) -> Result<Partial<Tensor<(), E, D, T>, W>, OpError>
where
    Ids: ?Sized + ShardedLabels<Positions, V, W> + FitsLogits<Dims, Positions, V>,
{
    partial_cross_entropy_with_label_smoothing(logits, labels, reduction, 0.0)
}

/// [`partial_cross_entropy`] with the label smoothing of
/// [`cross_entropy_with_label_smoothing`](super::cross_entropy_with_label_smoothing).
///
/// `(Shard<B, W>, .., V), (Shard<B, W>, ..) indices of V -> Partial<(), W>`
///
/// # Errors
/// Those of [`partial_cross_entropy`]; [`OpError::Smoothing`] if `smoothing` is not from 0 to 1.
///
/// ```
/// use typed_transformer::{ops::partial_cross_entropy_with_label_smoothing, prelude::*, ranks, ranks::Ranks};
/// ranks! { pub World; }
/// dims! { pub VocabSize = 2; pub SeqLen = 1; pub Batch; }
/// let losses = Ranks::<World>::in_threads(2, |ranks| {
///     let rows = ranks.shard(Batch::new(3));
///     let labels = LabelIds::from_ids(&vec![0; rows.size()], None, (rows, SeqLen)).unwrap();
///     // The label has odds of e⁴.
///     let logits = [2.0, -2.0].repeat(rows.size());
///     let logits: Tensor<_, f64, Cpu> = Cpu::default().tensor_from_vec(logits, (rows, SeqLen, VocabSize));
///     let loss = partial_cross_entropy_with_label_smoothing(logits, &labels, Reduction::MeanAll, 0.1).unwrap();
///     loss.all_reduce(ranks).unwrap().array()
/// });
/// // The other token has q = 0.05.
/// let expected = (1.0 + (-4f64).exp()).ln() + 0.05 * 4.0;
/// assert!((losses[0] - expected).abs() < 1e-12);
/// ```
pub fn partial_cross_entropy_with_label_smoothing<
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
    smoothing: f64,
) -> Result<Partial<Tensor<(), E, D, T>, W>, OpError>
where
    Ids: ?Sized + ShardedLabels<Positions, V, W> + FitsLogits<Dims, Positions, V>,
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
    weighted_cross_entropy::<Ids, _, _, _, _, _, _>(logits, ids, padding, weighting, smoothing).map(Partial::term)
}

/// This rank's term of the [`mean`](super::mean()) of all elements of a batch that ranks divide. The sum over the ranks
/// is the mean.
///
/// `(.., Shard<B, W>, ..), Shard<B, W> -> Partial<(), W>`
///
/// The elements are any losses, such as those of [`cross_entropy_by_position`](super::cross_entropy_by_position) or
/// squares of differences. `rows` come from [`Ranks::shard`], so they know the size of the whole batch; the shape of a
/// computed tensor may not. The other axes must have the same sizes on all ranks. The term of a rank without rows is 0.
///
/// # Errors
/// [`OpError::Whole`] if `rows` do not know the whole batch.
///
/// ```
/// use typed_transformer::{ops::partial_mean, prelude::*, ranks, ranks::Ranks};
/// ranks! { pub World; }
/// dims! { pub Batch; }
/// let means = Ranks::<World>::in_threads(3, |ranks| {
///     // Two rows on the first rank and one on each other.
///     let rows = ranks.shard(Batch::new(4));
///     let losses = [1.0, 3.0, 5.0, 7.0][rows.range().unwrap()].to_vec();
///     let losses: Tensor<_, f64, Cpu> = Cpu::default().tensor_from_vec(losses, (rows,));
///     partial_mean(losses, rows).unwrap().all_reduce(ranks).unwrap().array()
/// });
/// assert_eq!(means, [4.0; 3]);
/// ```
pub fn partial_mean<Dims, B: Dim, W: RankAxis, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rows: Shard<B, W>,
) -> Result<Partial<Tensor<(), E, D, T>, W>, OpError>
where
    Dims: HasAxis<Shard<B, W>, WhichAxis, Remaining: WholeShape>,
{
    const OP: &str = "partial mean";
    let shape = *input.shape();
    check_same_size("the input", shape.axis(), "`rows`", rows).map_err(dim_error(OP))?;
    let whole = whole_batch(OP, rows)?;
    ensure_not_empty(OP, &shape.replace_axis(whole))?;
    if rows.is_empty() {
        let (input, tape) = input.split_tape();
        let zero: Tensor<(), E, D> = input.device().try_zeros().map_err(device_error(OP))?;
        return Ok(Partial::term(zero.put_tape(tape)));
    }
    scale(mean_of_all(OP, input)?, rows.size() as f64 / whole.size() as f64).map(Partial::term)
}

/// The rows of all ranks. Each rank's loss of them is a term of the whole loss: the backward pass sums their gradient
/// over the ranks, and each rank keeps the part of its own rows.
///
/// `(Shard<B, W>, ..), Shard<B, W> -> (B, ..)`
///
/// A contrastive loss compares each row with those of the whole batch, as CLIP's ([Radford et al.,
/// 2021](https://arxiv.org/abs/2103.00020), 2.3). All ranks call `gather_batch` and run the backward pass, also a rank
/// without rows: its loss is [`Partial::of_no_rows`] with the tape of the result. After two calls it is the
/// [`add`](crate::tensor_parallel::add) of two of these, one for each result, so that both backward passes run. All
/// ranks call `backward` and then `all_reduce` if one of them may have no rows: with `backward_all_reduce` their orders
/// of sending might differ.
///
/// # Errors
/// [`OpError::Whole`] if `rows`, which [`Ranks::shard`] makes, do not know the whole batch; [`OpError::Ranks`].
///
/// ```
/// use typed_transformer::{ops::{gather_batch, partial_cross_entropy}, prelude::*, ranks, ranks::{Ranks, Shard}};
/// ranks! { pub World; }
/// dims! { pub EmbedDim = 3; pub Batch; }
/// type Rows = Shard<Batch, World>;
/// let losses = Ranks::<World>::in_threads(2, |ranks| {
///     let rows = ranks.shard(Batch::new(3));
///     let right: Vec<usize> = rows.range().unwrap().collect();
///     // Text `i` is the unit vector `i`, and so is the image that belongs to it.
///     let units = right.iter().flat_map(|row| (0..3).map(move |column| f64::from(column == *row))).collect();
///     let texts: Tensor<(Rows, EmbedDim), f64, Cpu> = Cpu::default().tensor_from_vec(units, (rows, EmbedDim));
///     let images: Tensor<(Batch, EmbedDim), f64, Cpu> = gather_batch(texts.clone(), rows, ranks).unwrap();
///     let scores = einsum!(texts: (Rows, EmbedDim), images: (Batch, EmbedDim) -> (Rows, Batch)).unwrap();
///     let labels = Indices::new(&right, (rows,), Batch::new(3)).unwrap();
///     partial_cross_entropy(scores, &labels, Reduction::MeanAll).unwrap().all_reduce(ranks).unwrap().array()
/// });
/// // The right image has odds of e.
/// let expected = (2.0 + 1f64.exp()).ln() - 1.0;
/// assert!((losses[0] - expected).abs() < 1e-12);
/// ```
pub fn gather_batch<Dims, B: Dim, W: RankAxis, E: Element, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    rows: Shard<B, W>,
    ranks: &Ranks<W>,
) -> Result<Tensor<Dims::Replaced<B>, E, D, T>, OpError>
where
    Dims: HasAxis<Shard<B, W>, Axis<0>>,
{
    const OP: &str = "gather_batch";
    let shape = *input.shape();
    check_same_size("the input", shape.axis(), "`rows`", rows).map_err(dim_error(OP))?;
    let whole = whole_batch(OP, rows)?;
    let lens = ranks.lens(whole.size(), shape.remove_axis().num_elements());
    let lens_of_gradient = lens.clone();
    let forward = |ranks: &Ranks<W>, part: Vec<E>| ranks.all_gather(&part, &lens);
    let backward = move |ranks: &Ranks<W>, gradient: Vec<E>| ranks.reduce_scatter(&gradient, &lens_of_gradient);
    run_and_record(OP, ranks, input, shape.replace_axis(whole), forward, backward)
}

/// The batch of which a rank has these rows.
fn whole_batch<B: Dim, W: RankAxis>(op: &'static str, rows: Shard<B, W>) -> Result<B, OpError> {
    rows.whole_size().and_then(B::from_size).ok_or_else(|| OpError::Whole { op, dim: format!("{rows:?}") })
}
