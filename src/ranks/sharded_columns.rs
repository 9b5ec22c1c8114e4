use super::{ConstRankAxis, Shard};
use crate::dims::{ConstDim, Divides, Factor, Product};

/// Columns that are divided among the ranks: a [`Shard`], or the [`Product`] of sharded columns and a whole dimension.
/// Each rank has as many.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Shard, ShardedColumns}};
/// ranks! { pub Tp = 2; }
/// dims! { pub NumHeads = 8; pub GroupSize = 3; pub HeadDim = 4; }
/// fn are_sharded<Columns: ShardedColumns<Axis = Tp>>() {}
/// are_sharded::<Shard<NumHeads, Tp>>();
/// are_sharded::<Product<Shard<NumHeads, Tp>, HeadDim>>();
/// // Groups of heads.
/// are_sharded::<Product<Product<Shard<NumHeads, Tp>, GroupSize>, HeadDim>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not sharded, but here a rank's part of it is needed",
    label = "every rank has all of `{Self}`",
    note = "a rank's part of `{Self}` is `Shard<{Self}, Tp>` for the axis of ranks `Tp`"
)]
pub trait ShardedColumns: Factor {}
// Without `do_not_recommend`: an unmet bound here is reported as `Divides`.
impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>> ShardedColumns for Shard<Whole, Axis> {}
#[diagnostic::do_not_recommend]
impl<Left: ShardedColumns, Right: ConstDim> ShardedColumns for Product<Left, Right> {}
