use super::{EnteredOver, local::Local};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::internal::Internal;
use crate::ops::{OpError, Real, device_error, linear};
use crate::ranks::{Partial, ShardedColumns};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{Device, ReshapeTo};

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
    const OP: &str = "linear_column";
    let input = input.into_tensor(Internal(()));
    let (batch, len, _) = *input.shape();
    let local = Local::<Columns>::default();
    let weight = relabel(OP, weight.clone(), (local, M::default()))?;
    let bias = bias.map(|bias| relabel(OP, bias.clone(), (local,))).transpose()?;
    relabel(OP, linear(input, &weight, bias.as_ref())?, (batch, len, Columns::default()))
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
    const OP: &str = "linear_row";
    let (batch, len, _) = *input.shape();
    let local = Local::<Columns>::default();
    let input = relabel(OP, input, (batch, len, local))?;
    let weight = relabel(OP, weight.clone(), (M::default(), local))?;
    linear(input, &weight, None).map(Partial::term)
}

/// The same tensor with other names for its dimensions, which have the same sizes.
fn relabel<From: Shape, To: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    op: &'static str,
    tensor: Tensor<From, E, D, T>,
    dims: To,
) -> Result<Tensor<To, E, D, T>, OpError> {
    tensor.try_reshape_like(&dims).map_err(device_error(op))
}
