use super::{ConstRankAxis, RankAxis, Shard};
use crate::dims::{ConstDim, Divides, Factor, MaybeSharded, Product};
use dfdx::shapes;

#[diagnostic::do_not_recommend]
impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>> Factor for Shard<Whole, Axis> {}

/// The columns are shared out over `Axis`: a [`Shard`], or the [`Product`] of a shard and a whole dimension. Each rank
/// has as many.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Shard, ShardOf}};
/// ranks! { pub Tp = 2; }
/// dims! { pub NumHeads = 8; pub HeadDim = 4; }
/// fn is_shared_out<Columns: ShardOf<Tp>>() {}
/// is_shared_out::<Shard<NumHeads, Tp>>();
/// is_shared_out::<Product<Shard<NumHeads, Tp>, HeadDim>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not sharded over `{Axis}`",
    label = "not a part of a dimension that the ranks of `{Axis}` share",
    note = "a rank's part of `{Self}` is `Shard<{Self}, {Axis}>`"
)]
pub trait ShardOf<Axis: RankAxis>: MaybeSharded + shapes::ConstDim {
    /// The dimension that the ranks share.
    type Whole: ConstDim;
}
#[diagnostic::do_not_recommend]
impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>> ShardOf<Axis> for Shard<Whole, Axis> {
    type Whole = Whole;
}
#[diagnostic::do_not_recommend]
impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>, Right: ConstDim> ShardOf<Axis>
    for Product<Shard<Whole, Axis>, Right>
{
    type Whole = Product<Whole, Right>;
}
