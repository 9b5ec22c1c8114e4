use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim};
use crate::mask::{AttentionMask, CausalMask, PaddingMask, PaddingRule};
use crate::module;
use crate::nn::{
    Arch, Conventions, CrossAttention, DecoderCache, FeedForward, KeysAndValues, Layers, Norm, SelfAttention,
    cross_mask, optional_norm,
};
use crate::ops::{OpError, Real};
use dfdx::{shapes::HasShape, tensor::Tensor};

/// A layer that reads a target and a source: causal self-attention, cross-attention, feed forward (*The Typed
/// Transformer*, "Decoder block").
///
/// With [`NormPlacement::Post`](crate::nn::NormPlacement::Post):
///
/// ```text
///          target (B, Q, QDim)           source (B, K, KVDim)
///                   |                             |
///   self_attention: |                             |
///            +------+                             |
///            |      |                             |
///            |  attention <--- causal mask        |
///            |      |          (B, Q, Q)          |
///            +----> + residual                    |
///                   |                             |
///                  norm                           |
///                   |                             |
///             (B, Q, QDim)                        |
///                   |                             |
///  cross_attention: |                             |
///            +------+                             |
///            |      |      key and value          |
///            |  attention <-----------------------+
///            |      |    <--- mask (B, Q, K)
///            +----> + residual
///                   |
///                  norm
///                   |
///             (B, Q, QDim)
///                   |
///     feed_forward: |
///            +------+
///            |      |
///            |   hidden, activation, output
///            |      |
///            +----> + residual
///                   |
///                  norm
///                   |
///             (B, Q, QDim)
/// ```
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let layer = DecoderLayer::<EmbedDim, EmbedDim, Model, f32, Cpu>::build(&device);
/// let target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = device.zeros();
/// let source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let target_padding = PaddingMask::without_padding((Batch, TgtLen));
/// let source_padding = PaddingMask::without_padding((Batch, SrcLen));
/// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
///     layer.forward(target, source, &target_padding, &source_padding)?;
/// # Ok::<(), OpError>(())
/// ```
#[module(output = QDim)]
pub struct DecoderLayer<QDim: ConstDim, KVDim: ConstDim, A: Arch, E, D> {
    /// Each target position attends to itself and earlier ones.
    pub self_attention: SelfAttention<QDim, CausalMask, A, E, D>,
    /// Each target position attends to the source.
    pub cross_attention: CrossAttention<QDim, KVDim, A, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<QDim, A, E, D>,
    /// The norm that the three sublayers share, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_block())]
    pub norm: Option<Norm<QDim, A, E, D>>,
}

impl<QDim: ConstDim, KVDim: ConstDim, A: Arch, E: Real, D: Backend<E>> DecoderLayer<QDim, KVDim, A, E, D> {
    /// `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) -> (B, Q, QDim)`
    pub fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let target_padding = target_padding::<A, B, Q>(query_padding_mask.clone());
        let self_attn_out = self.self_attention.forward(query, &target_padding)?;
        let source = self.cross_attention.project(key_value)?;
        let mask = cross_mask::<A, B, Q, K>(query_padding_mask, key_value_padding_mask)?;
        self.forward_after(self_attn_out, source, &mask)
    }

    /// The rest of the layer, from the output of its self-attention.
    fn forward_after<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        self_attn_out: Tensor<(B, Q, QDim), E, D, T>,
        source: KeysAndValues<B, K, A, E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let self_attn_out = optional_norm(&self.norm, self_attn_out)?;
        let cross_attn_out = self.cross_attention.forward_projected(self_attn_out, source, mask)?;
        let cross_attn_out = optional_norm(&self.norm, cross_attn_out)?;
        optional_norm(&self.norm, self.feed_forward.forward(cross_attn_out)?)
    }
}

/// The padding that a decoder's self-attention sees: none if the conventions ignore the target's padding.
pub(crate) fn target_padding<A: Arch, B: DataDim, S: Dim>(padding: PaddingMask<B, S>) -> PaddingMask<B, S> {
    let is_masked = <A::Conventions as Conventions>::PaddingRule::MASKS_TARGET_PADDING;
    if is_masked { padding } else { PaddingMask::without_padding(padding.shape()) }
}

/// A stack of decoder layers; each layer attends to the same source (*The Typed Transformer*, "Decoder stack").
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
///     decoder.forward(target, source, &target_padding, &source_padding)?;
/// # Ok::<(), OpError>(())
/// ```
#[module(output = QDim)]
pub struct Decoder<QDim: ConstDim, KVDim: ConstDim, NumLayers: ConstDim, A: Arch, E, D> {
    /// The layers, first to last.
    pub layers: Layers<NumLayers, DecoderLayer<QDim, KVDim, A, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<QDim, A, E, D>>,
}

impl<QDim: ConstDim, KVDim: ConstDim, NumLayers: ConstDim, A: Arch, E: Real, D: Backend<E>>
    Decoder<QDim, KVDim, NumLayers, A, E, D>
{
    /// `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) -> (B, Q, QDim)`
    pub fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let output = self.layers.iter().try_fold(query, |query, layer| {
            layer.forward(query, key_value.clone(), query_padding_mask, key_value_padding_mask)
        });
        optional_norm(&self.norm, output?)
    }

    /// For each layer: self-attention weights `(B, NumHeads, Q, Q)` and cross-attention weights `(B, NumHeads, Q, K)`.
    pub(crate) fn attention_weights<B: DataDim, Q: Dim, K: Dim>(
        &self,
        mut query: Tensor<(B, Q, QDim), E, D>,
        key_value: &Tensor<(B, K, KVDim), E, D>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Vec<(Tensor<(B, A::NumHeads, Q, Q), E, D>, Tensor<(B, A::NumHeads, Q, K), E, D>)>, OpError> {
        let target_padding = target_padding::<A, B, Q>(query_padding_mask.clone());
        let layer_attention_weights = |layer: &DecoderLayer<QDim, KVDim, A, E, D>| {
            let self_weights = layer.self_attention.attention_weights(query.clone(), &target_padding)?;
            let attended = layer.self_attention.forward(query.clone(), &target_padding)?;
            let x = optional_norm(&layer.norm, attended.clone())?;
            let (cross, source) = (&layer.cross_attention, key_value.clone());
            let cross_weights = cross.attention_weights(x, source, query_padding_mask, key_value_padding_mask)?;
            let mask = cross_mask::<A, B, Q, K>(query_padding_mask, key_value_padding_mask)?;
            query = layer.forward_after(attended, cross.project(key_value.clone())?, &mask)?;
            Ok((self_weights, cross_weights))
        };
        self.layers.iter().map(layer_attention_weights).collect()
    }

    /// Decodes the next positions of a target. [`Cache::advance`](crate::nn::Cache::advance) has counted them.
    pub(crate) fn forward_cached<B: DataDim, Q: Dim, K: Dim, MaxLen: ConstDim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        cache: &mut DecoderCache<B, K, MaxLen, NumLayers, A, E, D>,
    ) -> Result<Tensor<(B, Q, QDim), E, D>, OpError> {
        let (batch, next, _) = *query.shape();
        let no_padding = PaddingMask::without_padding((batch, next));
        let mask = cross_mask::<A, B, Q, K>(&no_padding, &cache.source_padding)?;
        let caches = cache.self_attention.layers.iter_mut().zip(&cache.cross_attention);
        let mut layers = self.layers.iter().zip(caches);
        let output = layers.try_fold(query, |query, (layer, (cache, source))| {
            layer.forward_after(layer.self_attention.forward_cached(query, cache)?, source.clone(), &mask)
        })?;
        optional_norm(&self.norm, output)
    }
}
