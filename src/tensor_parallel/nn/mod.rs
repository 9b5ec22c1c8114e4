//! The sublayers and models of [`nn`](crate::nn), whose heads and hidden columns are divided among the ranks.

mod attention;
mod block;
mod decoder;
mod decoder_only;
mod feed_forward;
mod lm;
mod projection;

pub use attention::ShardedAttention;
pub use decoder_only::ShardedDecoderOnly;
pub use feed_forward::ShardedFeedForward;
pub use lm::ShardedLM;

use crate::{dims::Divides, nn::Arch, ranks::ConstRankAxis};
use attention::AttentionSublayer;
use block::ShardedBlockStack;
use decoder::ShardedEmbeddingDecoder;
use projection::{ColumnProjection, RowProjection};

/// The number of ranks divides the heads and the hidden columns of `A`, and so its layers. It is implemented for
/// every such axis of ranks.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*, ranks, tensor_parallel::DividesLayersOf};
/// ranks! { pub Tp = 1; }
/// fn divides_layers_of<Axis: DividesLayersOf<Model>>() {}
/// divides_layers_of::<Tp>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the ranks of `{Self}` do not divide the heads or the hidden columns of `{A}`",
    label = "`{Self}` does not divide the layers of `{A}`",
    note = "`NumHeads` and `HiddenDim` of the architecture are multiples of the number of ranks"
)]
pub trait DividesLayersOf<A: Arch>: ConstRankAxis + Divides<A::NumHeads> + Divides<A::HiddenDim> {}
#[diagnostic::do_not_recommend]
impl<A: Arch, Axis: ConstRankAxis + Divides<A::NumHeads> + Divides<A::HiddenDim>> DividesLayersOf<A> for Axis {}
