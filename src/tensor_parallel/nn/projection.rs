use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::module;
use crate::nn::{ProjectionRule, init};
use crate::ops::{OpError, Real, device_error};
use crate::ranks::{Element, Ranks, ShardedColumns};
use crate::tensor_parallel::{EnteredOver, all_reduce, linear_column, linear_row};
use dfdx::shapes::{Axes2, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, TryAdd};

/// `x Wᵀ + b`, of which each rank has its part of the columns: the sharded form of a
/// [`Projection`](crate::nn::Projection).
#[module(output = Columns)]
pub struct ColumnProjection<InDim: ConstDim, Columns: ShardedColumns, Rule: ProjectionRule, E, D> {
    /// This rank's rows of `W`.
    #[param(init::zeros)]
    pub weight: Tensor<(Columns, InDim), E, D>,
    /// This rank's part of `b`.
    #[some_if(Rule::BIAS)]
    #[param(init::zeros)]
    pub bias: Option<Tensor<(Columns,), E, D>>,
}

impl<InDim: ConstDim, Columns: ShardedColumns, Rule: ProjectionRule, E: Real, D: Backend<E>>
    ColumnProjection<InDim, Columns, Rule, E, D>
{
    /// `Entered<(B, S, InDim)> -> (B, S, Columns)`
    pub(super) fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: impl EnteredOver<Columns::Axis, Tensor = Tensor<(B, S, InDim), E, D, T>>,
    ) -> Result<Tensor<(B, S, Columns), E, D, T>, OpError> {
        linear_column(input, &self.weight, self.bias.as_ref())
    }
}

/// `x Wᵀ + b`, of which each rank has its part of the columns of `x`: the sharded form of a
/// [`Projection`](crate::nn::Projection). All ranks have the bias.
#[module(output = OutDim)]
pub struct RowProjection<Columns: ShardedColumns, OutDim: ConstDim, Rule: ProjectionRule, E, D> {
    /// This rank's columns of `W`.
    #[param(init::zeros)]
    pub weight: Tensor<(OutDim, Columns), E, D>,
    /// `b`.
    #[some_if(Rule::BIAS)]
    #[param(init::zeros)]
    pub bias: Option<Tensor<(OutDim,), E, D>>,
}

impl<Columns: ShardedColumns, OutDim: ConstDim, Rule: ProjectionRule, E: Element, D: Backend<E>>
    RowProjection<Columns, OutDim, Rule, E, D>
{
    /// `(B, S, Columns) -> (B, S, OutDim)`: the sum over the ranks, plus the bias.
    pub(super) fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, Columns), E, D, T>,
        ranks: &Ranks<Columns::Axis>,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        let output = all_reduce(linear_row(input, &self.weight)?, ranks)?;
        match &self.bias {
            Some(bias) => {
                let shape = *output.shape();
                let add = || output.try_add(bias.retaped::<T>().try_broadcast_like::<_, Axes2<0, 1>>(&shape)?);
                add().map_err(device_error::<D::Err>("linear_row"))
            }
            None => Ok(output),
        }
    }
}
