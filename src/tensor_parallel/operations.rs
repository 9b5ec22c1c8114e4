//! Operations with a rank's columns and heads, and those that are linear in the terms of a sum.

use super::EnteredOver;
use crate::backend::{Arithmetic, Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim, Factor, Product};
use crate::internal::Internal;
use crate::mask::AttentionMask;
use crate::nn::group::ProcessGroup;
use crate::ops::{self, AttentionOptions, OpError, Real, linear_of_parts};
use crate::ranks::{Partial, Ranks};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Storage, Tensor};

/// `x Wᵀ + b`, column-parallel: each rank computes its columns of the output
/// ([*Megatron-LM*](https://arxiv.org/abs/1909.08053), section 3).
///
/// `Entered<(B, S, M)>, (Columns, M), (Columns) -> (B, S, Columns)` for `Columns` such as `Shard<HiddenDim, Tp>`
///
/// `Columns` that no ranks divide, such as `HiddenDim`, are those of one process, and `x` has entered
/// `Ranks::<()>::single()`. So a layer that is generic in `Columns: Factor` and takes `&Ranks<Columns::Axis>` is
/// written once.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::{enter, linear_column}};
/// ranks! { pub Tp = 2; }
/// dims! { pub Batch = 1; pub SeqLen = 1; pub EmbedDim = 2; pub HiddenDim = 2; }
/// let hidden = Ranks::<Tp>::in_threads(2, |ranks| {
///     let device = Cpu::default();
///     let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![3.0, 5.0]);
///     let rows = [[1.0, 0.0], [0.0, 2.0]];
///     let weight: Tensor<(Shard<HiddenDim, Tp>, EmbedDim), f32, Cpu> = device.tensor(rows[ranks.rank()].to_vec());
///     let hidden: Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu> =
///         linear_column(enter(x, ranks).unwrap(), &weight, None).unwrap();
///     hidden.as_vec()
/// });
/// assert_eq!(hidden, [[3.0], [10.0]]);
/// ```
pub fn linear_column<Input, B: DataDim, S: Dim, M: ConstDim, Columns: Factor, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Input,
    weight: &Tensor<(Columns, M), E, D>,
    bias: Option<&Tensor<(Columns,), E, D>>,
) -> Result<Tensor<(B, S, Columns), E, D, T>, OpError>
where
    Input: EnteredOver<Columns::Axis, Tensor = Tensor<(B, S, M), E, D, T>>,
{
    linear_of_parts(input.into_tensor(Internal(())), weight, bias)
}

/// `x Wᵀ`, row-parallel: each rank has some columns of `x`, and computes a term of the sum
/// ([*Megatron-LM*](https://arxiv.org/abs/1909.08053), section 3). A bias is added after the sum of the terms.
///
/// `(B, S, Columns), (M, Columns) -> Partial<(B, S, M)>` for `Columns` such as `Shard<HiddenDim, Tp>`; if no ranks
/// divide `Columns`, the only term is the sum.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks, Shard}, tensor_parallel::{all_reduce, linear_row}};
/// ranks! { pub Tp = 2; }
/// dims! { pub Batch = 1; pub SeqLen = 1; pub EmbedDim = 1; pub HiddenDim = 2; }
/// let output = Ranks::<Tp>::in_threads(2, |ranks| {
///     let device = Cpu::default();
///     let hidden: Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu> = device.tensor(vec![3.0]);
///     let weight: Tensor<(EmbedDim, Shard<HiddenDim, Tp>), f32, Cpu> = device.tensor(vec![1.0 + ranks.rank() as f32]);
///     let terms: Partial<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, Tp> = linear_row(hidden, &weight).unwrap();
///     all_reduce(terms, ranks).unwrap().as_vec()
/// });
/// assert_eq!(output, [[9.0], [9.0]]);
/// ```
pub fn linear_row<B: DataDim, S: Dim, M: ConstDim, Columns: Factor, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, Columns), E, D, T>,
    weight: &Tensor<(M, Columns), E, D>,
) -> Result<Partial<Tensor<(B, S, M), E, D, T>, Columns::Axis>, OpError> {
    linear_of_parts(input, weight, None).map(Partial::term)
}

/// [`multi_head_attention`](crate::ops::multi_head_attention) of this rank's heads, with dropout, for a layer of your
/// own. Without dropout, the operation of [`ops`] takes shards of heads as they are.
///
/// `(B, Q, Product<H, QKDim>), (B, K, Product<H, QKDim>), (B, K, Product<H, VODim>), mask (B, Q, K), bias (H, Q, K)
/// -> (B, Q, Product<H, VODim>)` for `H` such as `Shard<NumHeads, Tp>`
///
/// If all ranks set the same [`DropoutSeed`](crate::ops::DropoutSeed), they together drop the attention weights that
/// one process would drop.
///
/// # Errors
/// Those of [`multi_head_attention`](crate::ops::multi_head_attention), but for `ShardedDropout`.
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
    B: DataDim,
    Q: Dim,
    K: Dim,
    H: Factor,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<H, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<H, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    options: AttentionOptions<H, Q, K, E, D, T>,
    ranks: &Ranks<H::Axis>,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    ProcessGroup::of(ranks).attend_own_heads(query, key, value, mask, options)
}

/// [`grouped_query_attention`](crate::ops::grouped_query_attention) of this rank's heads, with the dropout of
/// [`multi_head_attention`].
///
/// `(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), (B, K, Product<NumKeyValueHeads, QKDim>),
/// (B, K, Product<NumKeyValueHeads, VODim>), mask (B, Q, K), bias (Product<NumKeyValueHeads, GroupSize>, Q, K)
/// -> (B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>)` for `NumKeyValueHeads` such as `Shard<Heads, Tp>`
///
/// # Errors
/// Those of [`multi_head_attention`].
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::grouped_query_attention};
/// ranks! { pub Tp = 2; }
/// dims! { pub NumKeyValueHeads = 2; pub GroupSize = 3; pub HeadDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// type Keys = Shard<NumKeyValueHeads, Tp>;
/// Ranks::<Tp>::in_threads(2, |ranks| {
///     let device = Cpu::default();
///     let query: Tensor<(Batch, SeqLen, Product<Product<Keys, GroupSize>, HeadDim>), f32, Cpu> = device.zeros();
///     let key: Tensor<(Batch, SeqLen, Product<Keys, HeadDim>), f32, Cpu> = device.tensor(vec![1.0; 2]);
///     let mask = AttentionMask::all_visible((Batch, SeqLen, SeqLen));
///     let options = AttentionOptions::default();
///     let attended = grouped_query_attention(query, key.clone(), key, &mask, options, ranks).unwrap();
///     assert_eq!(attended.as_vec(), [1.0; 6]);
/// });
/// ```
pub fn grouped_query_attention<
    B: DataDim,
    Q: Dim,
    K: Dim,
    NumKeyValueHeads: Factor,
    GroupSize: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    options: AttentionOptions<Product<NumKeyValueHeads, GroupSize>, Q, K, E, D, T>,
    ranks: &Ranks<NumKeyValueHeads::Axis>,
) -> Result<Tensor<(B, Q, Product<Product<NumKeyValueHeads, GroupSize>, VODim>), E, D, T>, OpError> {
    ProcessGroup::of(ranks).attend_own_heads(query, key, value, mask, options)
}

/// A [`Partial`] over `Dims`: the ranks of `Axis` have its terms.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the operand is not a `Partial` of a tensor over `{Dims}`, with its terms on the ranks of `{Axis}`",
    label = "`{Self}` is not a `Partial` over `{Dims}` and `{Axis}`",
    note = "terms of sums over the same ranks are added; all have one dtype and one device"
)]
pub trait TermsOver<Dims: Shape, E, D: Storage<E>, T, Axis> {
    #[doc(hidden)]
    fn into_terms(self, _: Internal) -> Tensor<Dims, E, D, T>;
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E, D: Storage<E>, T, Axis> TermsOver<Dims, E, D, T, Axis> for Partial<Tensor<Dims, E, D, T>, Axis> {
    fn into_terms(self, _: Internal) -> Tensor<Dims, E, D, T> {
        self.into_term()
    }
}
// Without `do_not_recommend`: an unmet bound here is reported as `IsTermOver`.
impl<Dims: Shape + IsTermOver<Axis>, E, D: Storage<E>, T, Axis> TermsOver<Dims, E, D, T, Axis>
    for Tensor<Dims, E, D, T>
{
    fn into_terms(self, _: Internal) -> Tensor<Dims, E, D, T> {
        self
    }
}

/// No type implements this trait. It exists for its error message, which rustc shows where a value that all ranks of
/// `Axis` have is added to a term.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tensor over `{Self}` is the same on all ranks of `{Axis}`: the sum would have it once for each rank",
    label = "the whole value, not this rank's term of a sum over `{Axis}`",
    note = "add it after `all_reduce(terms, &ranks)`, which makes the sum"
)]
pub trait IsTermOver<Axis> {}

/// The sum of two sums over the ranks, term by term.
///
/// `Partial<(..)>, Partial<(..)> -> Partial<(..)>`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks}, tensor_parallel::{add, all_reduce}};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 1; }
/// let sums = Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0]);
///     all_reduce(add(Partial::<_, Tp>::term(x.clone()), Partial::term(x)).unwrap(), ranks).unwrap().as_vec()
/// });
/// assert_eq!(sums, [[4.0], [4.0]]);
/// ```
pub fn add<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>, Axis>(
    left: Partial<Tensor<Dims, E, D, T>, Axis>,
    right: impl TermsOver<Dims, E, D, T, Axis>,
) -> Result<Partial<Tensor<Dims, E, D, T>, Axis>, OpError> {
    let (left, right) = (left.into_term(), right.into_terms(Internal(())));
    if left.shape() != right.shape() {
        let [from, to] = [&left, &right].map(|term| format!("{:?}", term.shape()));
        return Err(OpError::Shape { op: "add", from, to });
    }
    ops::elementwise("add", Arithmetic::Add, left, right).map(Partial::term)
}

/// A sum over the ranks times a number, term by term.
///
/// `Partial<(..)> -> Partial<(..)>`
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Partial, Ranks}, tensor_parallel::{all_reduce, scale}};
/// ranks! { pub Tp = 2; }
/// dims! { pub EmbedDim = 1; }
/// let sums = Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![1.0]);
///     all_reduce(scale(Partial::<_, Tp>::term(x), 3.0).unwrap(), ranks).unwrap().as_vec()
/// });
/// assert_eq!(sums, [[6.0], [6.0]]);
/// ```
pub fn scale<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>, Axis>(
    terms: Partial<Tensor<Dims, E, D, T>, Axis>,
    factor: f64,
) -> Result<Partial<Tensor<Dims, E, D, T>, Axis>, OpError> {
    ops::scale(terms.into_term(), factor).map(Partial::term)
}
