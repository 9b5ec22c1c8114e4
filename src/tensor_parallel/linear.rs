use super::EnteredOver;
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::internal::Internal;
use crate::ops::{OpError, Real, linear_of_parts};
use crate::ranks::{Partial, ShardedColumns};
use dfdx::tensor::Tensor;

/// `x Wᵀ + b`, column-parallel: each rank computes its columns of the output
/// ([*Megatron-LM*](https://arxiv.org/abs/1909.08053), section 3).
///
/// `Entered<(B, S, M)>, (Columns, M), (Columns) -> (B, S, Columns)` for `Columns` that are
/// [sharded](ShardedColumns), such as `Shard<HiddenDim, Tp>`
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
pub fn linear_column<
    Input,
    B: MaybeSharded,
    S: Dim,
    M: ConstDim,
    Columns: ShardedColumns,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
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
/// `(B, S, Columns), (M, Columns) -> Partial<(B, S, M)>` for `Columns` that are [sharded](ShardedColumns), such as
/// `Shard<HiddenDim, Tp>`
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
pub fn linear_row<
    B: MaybeSharded,
    S: Dim,
    M: ConstDim,
    Columns: ShardedColumns,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    input: Tensor<(B, S, Columns), E, D, T>,
    weight: &Tensor<(M, Columns), E, D>,
) -> Result<Partial<Tensor<(B, S, M), E, D, T>, Columns::Axis>, OpError> {
    linear_of_parts(input, weight, None).map(Partial::term)
}
