use super::{AttentionSublayer, DividesLayersOf, ShardedFeedForward};
use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, Dim, MaybeSharded};
use crate::mask::{CausalMask, PaddingMask};
use crate::module;
use crate::nn::{Conventions, Embedder, Layers, Norm, Seq2Seq, cross_mask, optional_norm, self_mask, target_padding};
use crate::ops::OpError;
use crate::ranks::{Element, Ranks};
use crate::tokens::TokenIds;
use dfdx::tensor::Tensor;

/// [`DecoderLayer`](crate::nn::DecoderLayer), whose heads and hidden columns are divided among the ranks.
#[module(output = Config::EmbedDim)]
pub struct ShardedDecoderLayer<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E, D> {
    /// Each target position attends to itself and earlier ones.
    pub self_attention: AttentionSublayer<Config::EmbedDim, Config, Axis, E, D>,
    /// Each target position attends to the source.
    pub cross_attention: AttentionSublayer<Config::EmbedDim, Config, Axis, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: ShardedFeedForward<Config::EmbedDim, Config, Axis, E, D>,
    /// The norm that the three sublayers share, if the conventions have one.
    #[some_if(<Config::Conventions as Conventions>::NORM_PLACEMENT.per_block())]
    pub norm: Option<Norm<Config::EmbedDim, Config, E, D>>,
}

/// [`Decoder`](crate::nn::Decoder), whose heads and hidden columns are divided among the ranks.
#[module(output = Config::EmbedDim)]
pub struct ShardedDecoder<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E, D> {
    /// The layers, first to last.
    pub layers: Layers<Config::NumDecoderLayers, ShardedDecoderLayer<Config, Axis, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<Config::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<Config::EmbedDim, Config, E, D>>,
}

/// [`EmbeddingDecoder`](crate::nn::EmbeddingDecoder), whose heads and hidden columns are divided among the ranks.
#[module(output = Config::EmbedDim)]
pub struct ShardedEmbeddingDecoder<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E, D> {
    /// From token ids to vectors.
    pub embedder: Embedder<Config::TgtVocab, Config::MaxTgtLen, Config::EmbedDim, Config, E, D>,
    /// The layers.
    pub decoder: ShardedDecoder<Config, Axis, E, D>,
}

impl<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E: Element, D: Backend<E>>
    ShardedEmbeddingDecoder<Config, Axis, E, D>
{
    /// `(B, Tgt) ids of TgtVocab, (B, Src, EmbedDim), padding (B, Src) -> (B, Tgt, EmbedDim)`
    pub(super) fn forward<B: MaybeSharded, Tgt: AtMost<Config::MaxTgtLen>, Src: Dim, T: Tape<E, D>>(
        &self,
        target: &TokenIds<B, Tgt, Config::TgtVocab>,
        source: Tensor<(B, Src, Config::EmbedDim), E, D, T>,
        source_padding: &PaddingMask<B, Src>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Tgt, Config::EmbedDim), E, D, T>, OpError> {
        let padding = target.padding_mask();
        let mask = self_mask::<CausalMask, Config, B, Tgt>(&target_padding::<Config, B, Tgt>(padding.clone()));
        let source_mask = cross_mask::<Config, B, Tgt, Src>(&padding, source_padding)?;
        let mut x = self.embedder.forward(target, T::default())?;
        for layer in &self.decoder.layers {
            x = optional_norm(&layer.norm, layer.self_attention.forward(x, &mask, ranks)?)?;
            let attended = layer.cross_attention.forward_cross(x, source.clone(), &source_mask, ranks)?;
            x = optional_norm(&layer.norm, attended)?;
            x = optional_norm(&layer.norm, layer.feed_forward.forward(x, ranks)?)?;
        }
        optional_norm(&self.decoder.norm, x)
    }
}
