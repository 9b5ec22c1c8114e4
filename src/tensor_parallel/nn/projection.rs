use crate::{
    backend::Backend,
    dims::{ConstDim, Dim, MaybeSharded},
    module,
    nn::{ProjectionRule, init},
    ops::{OpError, Real, device_error},
    ranks::{Element, Ranks, ShardedColumns},
    tensor_parallel::{EnteredOver, try_all_reduce, try_linear_column, try_linear_row},
};
use dfdx::{
    shapes::{Axes2, HasShape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, TryAdd},
};

module! {
    /// `x Wᵀ + b`, of which each rank has its part of the columns: the sharded form of a
    /// [`Projection`](crate::nn::Projection).
    pub struct ColumnProjection<InDim: ConstDim, Columns: ShardedColumns, Rule: ProjectionRule; E, D> -> Columns {
        /// This rank's rows of `W`.
        pub weight: param (Columns, InDim) = init::zeros,
        /// This rank's part of `b`.
        pub bias: optional(Rule::BIAS) param (Columns,) = init::zeros,
    }
}

impl<InDim: ConstDim, Columns: ShardedColumns, Rule: ProjectionRule, E: Real, D: Backend<E>>
    ColumnProjection<InDim, Columns, Rule, E, D>
{
    /// `Entered<(B, S, InDim)> -> (B, S, Columns)`
    pub(super) fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: impl EnteredOver<Columns::Axis, Tensor = Tensor<(B, S, InDim), E, D, T>>,
    ) -> Result<Tensor<(B, S, Columns), E, D, T>, OpError> {
        try_linear_column(input, &self.weight, self.bias.as_ref())
    }
}

module! {
    /// `x Wᵀ + b`, of which each rank has its part of the columns of `x`: the sharded form of a
    /// [`Projection`](crate::nn::Projection). All ranks have the bias.
    pub struct RowProjection<Columns: ShardedColumns, OutDim: ConstDim, Rule: ProjectionRule; E, D> -> OutDim {
        /// This rank's columns of `W`.
        pub weight: param (OutDim, Columns) = init::zeros,
        /// `b`.
        pub bias: optional(Rule::BIAS) param (OutDim,) = init::zeros,
    }
}

impl<Columns: ShardedColumns, OutDim: ConstDim, Rule: ProjectionRule, E: Element, D: Backend<E>>
    RowProjection<Columns, OutDim, Rule, E, D>
{
    /// `(B, S, Columns) -> (B, S, OutDim)`: the sum over the ranks, plus the bias.
    pub(super) fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, Columns), E, D, T>,
        ranks: &Ranks<Columns::Axis>,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        let output = try_all_reduce(try_linear_row(input, &self.weight)?, ranks)?;
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
