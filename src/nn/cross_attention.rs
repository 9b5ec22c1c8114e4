use super::{
    Arch, Conventions, MHAttention, Norm,
    cache::CrossKeyValues,
    norm::{try_residual_norm, try_sublayer_input},
};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded},
    mask::{AttentionMask, PaddingMask, mk_cross_mask},
    module,
    ops::{OpError, Real, dim_error, try_dropout},
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// One sequence attends to another (*The Typed Transformer*, "Cross-attention").
///
/// `norm(query + attention(query, key_value, key_value))`; the conventions of `A` may put the norm elsewhere. In
/// a decoder, the query is the target and `key_value` is the encoder's output.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let layer = CrossAttention::<EmbedDim, EmbedDim, Model, f32, Cpu>::build(&device);
/// let target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = device.zeros();
/// let source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let target_padding = PaddingMask::without_padding((Batch, TgtLen));
/// let source_padding = PaddingMask::without_padding((Batch, SrcLen));
/// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
///     layer.forward(target, source, &target_padding, &source_padding);
/// ```
#[module(output = QDim)]
pub struct CrossAttention<QDim: ConstDim, KVDim: ConstDim, A: Arch, E, D> {
    /// The attention; query and output have width `QDim`, key and value `KVDim`.
    pub attention: MHAttention<QDim, KVDim, KVDim, QDim, A, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<QDim, A, E, D>>,
}

impl<QDim: ConstDim, KVDim: ConstDim, A: Arch, E: Real, D: Backend<E>> CrossAttention<QDim, KVDim, A, E, D> {
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
        let mask = mk_cross_mask::<<A::Conventions as Conventions>::PaddingRule, B, Q, K>(
            query_padding_mask,
            key_value_padding_mask,
        )
        .map_err(dim_error("cross-attention"))?;
        try_residual_norm(&self.norm, query, |x| {
            let query = self.attention.query_proj.try_forward(x)?; // (B, Q, H*QKDim)
            let key = self.attention.key_proj.try_forward(key_value.clone())?; // (B, K, H*QKDim)
            let value = self.attention.value_proj.try_forward(key_value)?; // (B, K, H*VODim)
            let attended = self.attention.try_attend(query, key, value, &mask)?; // softmax(scale · q kᵀ) v
            try_dropout(self.attention.output_proj.try_forward(attended)?, A::DROPOUT)
        })
    }

    /// The attention weights of each head: `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) ->
    /// (B, NumHeads, Q, K)`, by [`MHAttention::try_attention_weights`].
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    pub fn try_attention_weights<B: MaybeSharded, Q: Dim, K: Dim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        key_value: Tensor<(B, K, KVDim), E, D>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, A::NumHeads, Q, K), E, D>, OpError> {
        let mask = mk_cross_mask::<<A::Conventions as Conventions>::PaddingRule, B, Q, K>(
            query_padding_mask,
            key_value_padding_mask,
        )
        .map_err(dim_error("cross-attention"))?;
        let query = try_sublayer_input(&self.norm, query)?;
        self.attention.try_attention_weights(query, key_value, &mask)
    }

    /// The keys and values of a source, for [`try_forward_cached`](Self::try_forward_cached).
    pub(crate) fn try_project_source<B: MaybeSharded, K: Dim>(
        &self,
        key_value: Tensor<(B, K, KVDim), E, D>,
    ) -> Result<CrossKeyValues<B, K, A, E, D>, OpError> {
        let key = self.attention.key_proj.try_forward(key_value.clone())?;
        Ok((key, self.attention.value_proj.try_forward(key_value)?))
    }

    /// Like [`try_forward`](Self::try_forward), with keys and values from
    /// [`try_project_source`](Self::try_project_source).
    pub(crate) fn try_forward_cached<B: MaybeSharded, Q: Dim, K: Dim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        (keys, values): &CrossKeyValues<B, K, A, E, D>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D>, OpError> {
        try_residual_norm(&self.norm, query, |x| {
            let query = self.attention.query_proj.try_forward(x)?; // (B, Q, H*QKDim)
            let attended = self.attention.try_attend(query, keys.clone(), values.clone(), mask)?;
            try_dropout(self.attention.output_proj.try_forward(attended)?, A::DROPOUT)
        })
    }
}
