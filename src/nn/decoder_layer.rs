use super::{
    Arch, Conventions, CrossAttention, FeedForward, KeyValueCache, Norm, SelfAttention, cache::CrossKeyValues,
    norm::try_optional_norm,
};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded},
    mask::{AttentionMask, CausalMask, PaddingMask, PaddingRule},
    module,
    ops::{OpError, Real},
};
use dfdx::tensor::Tensor;
use std::borrow::Cow;
use typed_transformer_macros::panicking;

/// A layer that reads a target and a source: causal self-attention, cross-attention, feed forward (*The Typed
/// Transformer*, "Decoder block").
///
/// With [`NormPlacement::Post`](super::NormPlacement::Post):
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
///     layer.forward(target, source, &target_padding, &source_padding);
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
        let cross_attn_out = self.cross_attention.try_forward(
            self.try_self_attend(query, query_padding_mask)?,
            key_value,
            query_padding_mask,
            key_value_padding_mask,
        )?;
        let cross_attn_out = try_optional_norm(&self.norm, cross_attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(cross_attn_out)?)
    }

    /// Self-attention weights `(B, NumHeads, Q, Q)` and cross-attention weights `(B, NumHeads, Q, K)`.
    pub(crate) fn try_attention_weights<B: MaybeSharded, Q: Dim, K: Dim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        key_value: Tensor<(B, K, KVDim), E, D>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<DecoderAttentionWeights<B, Q, K, A, E, D>, OpError> {
        let target_padding = target_padding::<A, B, Q>(query_padding_mask);
        let self_attention = self.self_attention.try_attention_weights(query.clone(), &target_padding)?;
        let cross_attention = self.cross_attention.try_attention_weights(
            self.try_self_attend(query, query_padding_mask)?,
            key_value,
            query_padding_mask,
            key_value_padding_mask,
        )?;
        Ok((self_attention, cross_attention))
    }

    fn try_self_attend<B: MaybeSharded, Q: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        padding_mask: &PaddingMask<B, Q>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let target_padding = target_padding::<A, B, Q>(padding_mask);
        try_optional_norm(&self.norm, self.self_attention.try_forward(query, &target_padding)?)
    }

    /// Decodes the next positions of a target, with the source projected in advance.
    pub(crate) fn try_forward_cached<B: MaybeSharded, Q: Dim, K: Dim, MaxLen: ConstDim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        cache: &mut KeyValueCache<B, MaxLen, A, E, D>,
        source: &CrossKeyValues<B, K, A, E, D>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D>, OpError> {
        let self_attn_out = self.self_attention.try_forward_cached(query, cache)?;
        let self_attn_out = try_optional_norm(&self.norm, self_attn_out)?;
        let cross_attn_out = self.cross_attention.try_forward_cached(self_attn_out, source, mask)?;
        let cross_attn_out = try_optional_norm(&self.norm, cross_attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(cross_attn_out)?)
    }
}

/// The padding mask for the target's self-attention: `padding_mask`, or all visible if the conventions ignore
/// the target's padding.
pub(crate) fn target_padding<A: Arch, B: MaybeSharded, Q: Dim>(
    padding_mask: &PaddingMask<B, Q>,
) -> Cow<'_, PaddingMask<B, Q>> {
    match <A::Conventions as Conventions>::PaddingRule::MASKS_TARGET_PADDING {
        true => Cow::Borrowed(padding_mask),
        false => Cow::Owned(PaddingMask::without_padding(padding_mask.shape())),
    }
}

/// The self-attention weights and the cross-attention weights of a decoder layer.
pub(crate) type DecoderAttentionWeights<B, Q, K, A, E, D> =
    (Tensor<(B, <A as Arch>::NumHeads, Q, Q), E, D>, Tensor<(B, <A as Arch>::NumHeads, Q, K), E, D>);
