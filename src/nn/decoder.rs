use super::{
    Arch, Cache, Conventions, DecoderCache, DecoderLayer, Norm, decoder_layer::DecoderAttentionWeights,
    norm::try_optional_norm,
};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded},
    mask::{PaddingMask, mk_cross_mask},
    module,
    ops::{OpError, Real, dim_error},
};
use dfdx::{shapes::HasShape, tensor::Tensor};
use typed_transformer_macros::panicking;

/// A stack of decoder layers; each layer attends to the same source (*The Typed Transformer*,
/// "Decoder stack").
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let decoder = Decoder::<EmbedDim, EmbedDim, NumLayers, Model, f32, Cpu>::build(&device);
/// let target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = device.zeros();
/// let source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let target_padding = PaddingMask::without_padding((Batch, TgtLen));
/// let source_padding = PaddingMask::without_padding((Batch, SrcLen));
/// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
///     decoder.forward(target, source, &target_padding, &source_padding);
/// ```
#[module(output = QDim)]
pub struct Decoder<QDim: ConstDim, KVDim: ConstDim, NumLayers: ConstDim, A: Arch, E, D> {
    /// The layers, first to last.
    #[layers(NumLayers::SIZE)]
    pub layers: Vec<DecoderLayer<QDim, KVDim, A, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<QDim, A, E, D>>,
}

impl<QDim: ConstDim, KVDim: ConstDim, NumLayers: ConstDim, A: Arch, E: Real, D: Backend<E>>
    Decoder<QDim, KVDim, NumLayers, A, E, D>
{
    /// `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) -> (B, Q, QDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let output = self.layers.iter().try_fold(query, |query, layer| {
            layer.try_forward(query, key_value.clone(), query_padding_mask, key_value_padding_mask)
        });
        try_optional_norm(&self.norm, output?)
    }

    /// For each layer: self-attention weights `(B, NumHeads, Q, Q)` and cross-attention weights
    /// `(B, NumHeads, Q, K)`.
    pub(crate) fn try_attention_weights<B: MaybeSharded, Q: Dim, K: Dim>(
        &self,
        mut query: Tensor<(B, Q, QDim), E, D>,
        key_value: &Tensor<(B, K, KVDim), E, D>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Vec<DecoderAttentionWeights<B, Q, K, A, E, D>>, OpError> {
        let layer_attention_weights = |layer: &DecoderLayer<QDim, KVDim, A, E, D>| {
            let (target, source) = (query.clone(), key_value.clone());
            let attention_weights =
                layer.try_attention_weights(target, source.clone(), query_padding_mask, key_value_padding_mask)?;
            query = layer.try_forward(query.clone(), source, query_padding_mask, key_value_padding_mask)?;
            Ok(attention_weights)
        };
        self.layers.iter().map(layer_attention_weights).collect()
    }

    /// A cache for [`try_forward_cached`](Self::try_forward_cached). It holds the projected source and no target
    /// positions.
    pub(crate) fn try_cache<B: MaybeSharded, K: Dim, MaxLen: ConstDim>(
        &self,
        key_value: Tensor<(B, K, KVDim), E, D>,
        source_padding: &PaddingMask<B, K>,
    ) -> Result<DecoderCache<B, K, MaxLen, A, E, D>, OpError> {
        let (batch, _, _) = *key_value.shape();
        let source = self.layers.iter().map(|layer| layer.cross_attention.try_project_source(key_value.clone()));
        Ok(DecoderCache {
            self_attention: Cache::try_new(key_value.device(), batch, NumLayers::SIZE)?,
            cross_attention: source.collect::<Result<_, _>>()?,
            source_padding: source_padding.clone(),
        })
    }

    /// [`DecoderLayer::try_forward_cached`] of each layer.
    pub(crate) fn try_forward_cached<B: MaybeSharded, Q: Dim, K: Dim, MaxLen: ConstDim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        cache: &mut DecoderCache<B, K, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, Q, QDim), E, D>, OpError> {
        let (batch, next, _) = *query.shape();
        cache.self_attention.check_fits(batch, next)?;
        let no_padding = PaddingMask::without_padding((batch, next));
        let mask =
            mk_cross_mask::<<A::Conventions as Conventions>::PaddingRule, B, Q, K>(&no_padding, &cache.source_padding)
                .map_err(dim_error("cross-attention"))?;
        let caches = cache.self_attention.layers.iter_mut().zip(&cache.cross_attention);
        let output =
            self.layers.iter().zip(caches).try_fold(query, |query, (layer, (cache, source))| {
                layer.try_forward_cached(query, cache, source, &mask)
            })?;
        cache.self_attention.len += next.size();
        try_optional_norm(&self.norm, output)
    }
}
