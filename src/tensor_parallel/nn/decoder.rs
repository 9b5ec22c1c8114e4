use super::{DividesLayersOf, ShardedCrossAttention, ShardedFeedForward, ShardedSelfAttention};
use crate::{
    backend::{Backend, Tape},
    dims::{AtMost, ConstDim, Dim, MaybeSharded},
    mask::{CausalMask, PaddingMask},
    module,
    nn::{Arch, Conventions, Embedder, HasPositionsFor, Norm, target_padding, try_optional_norm},
    ops::OpError,
    ranks::{Element, Ranks},
    tokens::TokenIds,
};
use dfdx::tensor::Tensor;

/// [`DecoderLayer`](crate::nn::DecoderLayer), whose heads and hidden columns are divided among the ranks.
#[module(output = QDim)]
pub struct ShardedDecoderLayer<QDim: ConstDim, KVDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// Each target position attends to itself and earlier ones.
    pub self_attention: ShardedSelfAttention<QDim, CausalMask, A, Axis, E, D>,
    /// Each target position attends to the source.
    pub cross_attention: ShardedCrossAttention<QDim, KVDim, A, Axis, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: ShardedFeedForward<QDim, A, Axis, E, D>,
    /// The norm that the three sublayers share, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_block())]
    pub norm: Option<Norm<QDim, A, E, D>>,
}

impl<QDim: ConstDim, KVDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    ShardedDecoderLayer<QDim, KVDim, A, Axis, E, D>
{
    /// `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) -> (B, Q, QDim)`
    pub(super) fn try_forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let target_padding = target_padding::<A, B, Q>(query_padding_mask);
        let self_attn_out = self.self_attention.try_forward(query, &target_padding, ranks)?;
        let cross_attn_out = self.cross_attention.try_forward(
            try_optional_norm(&self.norm, self_attn_out)?,
            key_value,
            query_padding_mask,
            key_value_padding_mask,
            ranks,
        )?;
        let cross_attn_out = try_optional_norm(&self.norm, cross_attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(cross_attn_out, ranks)?)
    }
}

/// [`Decoder`](crate::nn::Decoder), whose heads and hidden columns are divided among the ranks.
#[module(output = QDim)]
pub struct ShardedDecoder<QDim: ConstDim, KVDim: ConstDim, NumLayers: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E, D>
{
    /// The layers, first to last.
    #[layers(NumLayers::SIZE)]
    pub layers: Vec<ShardedDecoderLayer<QDim, KVDim, A, Axis, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<QDim, A, E, D>>,
}

impl<QDim: ConstDim, KVDim: ConstDim, NumLayers: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    ShardedDecoder<QDim, KVDim, NumLayers, A, Axis, E, D>
{
    /// `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) -> (B, Q, QDim)`
    pub(super) fn try_forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let output = self.layers.iter().try_fold(query, |query, layer| {
            layer.try_forward(query, key_value.clone(), query_padding_mask, key_value_padding_mask, ranks)
        });
        try_optional_norm(&self.norm, output?)
    }
}

/// [`EmbeddingDecoder`](crate::nn::EmbeddingDecoder), whose heads and hidden columns are divided among the ranks.
#[module(output = QDim)]
pub struct ShardedEmbeddingDecoder<
    VocabSize: ConstDim,
    MaxSeqLen: ConstDim,
    QDim: ConstDim,
    KVDim: ConstDim,
    NumLayers: ConstDim,
    A: HasPositionsFor<QDim>,
    Axis: DividesLayersOf<A>,
    E,
    D,
> {
    /// From token ids to vectors.
    pub embedder: Embedder<VocabSize, MaxSeqLen, QDim, A, E, D>,
    /// The layers.
    pub decoder: ShardedDecoder<QDim, KVDim, NumLayers, A, Axis, E, D>,
}

impl<
    VocabSize: ConstDim,
    MaxSeqLen: ConstDim,
    QDim: ConstDim,
    KVDim: ConstDim,
    NumLayers: ConstDim,
    A: HasPositionsFor<QDim>,
    Axis: DividesLayersOf<A>,
    E: Element,
    D: Backend<E>,
> ShardedEmbeddingDecoder<VocabSize, MaxSeqLen, QDim, KVDim, NumLayers, A, Axis, E, D>
{
    /// `(B, Q) ids of VocabSize, (B, K, KVDim), padding (B, K) -> (B, Q, QDim)`
    pub(super) fn try_forward<B: MaybeSharded, Q: AtMost<MaxSeqLen>, K: Dim, T: Tape<E, D>>(
        &self,
        decoder_ids: &TokenIds<B, Q, VocabSize>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        key_value_padding_mask: &PaddingMask<B, K>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let embeds = self.embedder.try_forward(decoder_ids, T::default())?;
        self.decoder.try_forward(embeds, key_value, &decoder_ids.padding_mask(), key_value_padding_mask, ranks)
    }
}
