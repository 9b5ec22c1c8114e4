use super::{DividesLayersOf, ShardedFeedForward, ShardedSelfAttention};
use crate::{
    backend::{Backend, Tape},
    dims::{AtMost, ConstDim, Dim, MaybeSharded},
    mask::{MaskKind, NoMask, PaddingMask},
    module,
    nn::{Arch, Conventions, Embedder, HasPositionsFor, Norm, try_optional_norm},
    ops::OpError,
    ranks::{Element, Ranks},
    tokens::TokenIds,
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// [`Block`](crate::nn::Block), whose heads and hidden columns are divided among the ranks.
#[module(output = EmbedDim)]
pub struct ShardedBlock<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// Each position attends to the positions that `Mask` shows to it.
    pub self_attention: ShardedSelfAttention<EmbedDim, Mask, A, Axis, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: ShardedFeedForward<EmbedDim, A, Axis, E, D>,
    /// The norm that both sublayers share, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_block())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    ShardedBlock<EmbedDim, Mask, A, Axis, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Ranks`] if a rank fails;
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let attn_out = self.self_attention.try_forward(input, padding_mask, ranks)?;
        let attn_out = try_optional_norm(&self.norm, attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(attn_out, ranks)?)
    }
}

/// [`BlockStack`](crate::nn::BlockStack), whose heads and hidden columns are divided among the ranks.
#[module(output = EmbedDim)]
pub struct ShardedBlockStack<
    EmbedDim: ConstDim,
    NumLayers: ConstDim,
    Mask: MaskKind,
    A: Arch,
    Axis: DividesLayersOf<A>,
    E,
    D,
> {
    /// The layers, first to last.
    #[layers(NumLayers::SIZE)]
    pub layers: Vec<ShardedBlock<EmbedDim, Mask, A, Axis, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<
    EmbedDim: ConstDim,
    NumLayers: ConstDim,
    Mask: MaskKind,
    A: Arch,
    Axis: DividesLayersOf<A>,
    E: Element,
    D: Backend<E>,
> ShardedBlockStack<EmbedDim, NumLayers, Mask, A, Axis, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    pub(super) fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        embeds: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let mut layers = self.layers.iter();
        let output = layers.try_fold(embeds, |embeds, layer| layer.try_forward(embeds, padding_mask, ranks));
        try_optional_norm(&self.norm, output?)
    }
}

/// [`EmbeddingEncoder`](crate::nn::EmbeddingEncoder), whose heads and hidden columns are divided among the ranks.
#[module(output = EmbedDim)]
pub struct ShardedEmbeddingEncoder<
    VocabSize: ConstDim,
    MaxSeqLen: ConstDim,
    EmbedDim: ConstDim,
    NumLayers: ConstDim,
    A: HasPositionsFor<EmbedDim>,
    Axis: DividesLayersOf<A>,
    E,
    D,
> {
    /// From token ids to vectors.
    pub embedder: Embedder<VocabSize, MaxSeqLen, EmbedDim, A, E, D>,
    /// The layers.
    pub encoder: ShardedBlockStack<EmbedDim, NumLayers, NoMask, A, Axis, E, D>,
}

impl<
    VocabSize: ConstDim,
    MaxSeqLen: ConstDim,
    EmbedDim: ConstDim,
    NumLayers: ConstDim,
    A: HasPositionsFor<EmbedDim>,
    Axis: DividesLayersOf<A>,
    E: Element,
    D: Backend<E>,
> ShardedEmbeddingEncoder<VocabSize, MaxSeqLen, EmbedDim, NumLayers, A, Axis, E, D>
{
    /// `(B, S) ids of VocabSize -> (B, S, EmbedDim)`
    pub(super) fn try_forward<B: MaybeSharded, S: AtMost<MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, VocabSize>,
        tape: T,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let embeds = self.embedder.try_forward(token_ids, tape)?;
        self.encoder.try_forward(embeds, &token_ids.padding_mask(), ranks)
    }
}
