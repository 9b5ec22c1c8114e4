use super::{AttentionSublayer, DividesLayersOf, ShardedFeedForward};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::mask::AttentionMask;
use crate::module;
use crate::nn::{Arch, Conventions, Layers, Norm, optional_norm};
use crate::ops::OpError;
use crate::ranks::{Element, Ranks};
use dfdx::tensor::Tensor;

/// [`Block`](crate::nn::Block), whose heads and hidden columns are divided among the ranks.
#[module(output = EmbedDim)]
pub struct ShardedBlock<EmbedDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// Each position attends to the positions that the mask shows to it.
    pub self_attention: AttentionSublayer<EmbedDim, A, Axis, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: ShardedFeedForward<EmbedDim, A, Axis, E, D>,
    /// The norm that both sublayers share, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_block())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

/// [`BlockStack`](crate::nn::BlockStack), whose heads and hidden columns are divided among the ranks.
#[module(output = EmbedDim)]
pub struct ShardedBlockStack<EmbedDim: ConstDim, NumLayers: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// The layers, first to last.
    pub layers: Layers<NumLayers, ShardedBlock<EmbedDim, A, Axis, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, NumLayers: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    ShardedBlockStack<EmbedDim, NumLayers, A, Axis, E, D>
{
    /// `(B, S, EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    pub(super) fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        mut x: Tensor<(B, S, EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, S>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        for layer in &self.layers {
            x = optional_norm(&layer.norm, layer.self_attention.forward(x, mask, ranks)?)?;
            x = optional_norm(&layer.norm, layer.feed_forward.forward(x, ranks)?)?;
        }
        optional_norm(&self.norm, x)
    }
}
