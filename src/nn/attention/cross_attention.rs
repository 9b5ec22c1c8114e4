use super::MHAttention;
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim};
use crate::mask::{AttentionMask, PaddingMask, mk_cross_mask};
use crate::module;
use crate::nn::{Arch, Conventions, KeysAndValues, Norm, residual_norm, sublayer_input};
use crate::ops::{OpError, Real, dim_error};
use dfdx::tensor::Tensor;

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
///     layer.forward(target, source, &target_padding, &source_padding)?;
/// # Ok::<(), OpError>(())
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
    pub fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let mask = cross_mask::<A, B, Q, K>(query_padding_mask, key_value_padding_mask)?;
        self.forward_projected(query, self.project(key_value)?, &mask)
    }

    /// The attention weights of each head: `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) ->
    /// (B, NumHeads, Q, K)`, by [`MHAttention::attention_weights`].
    pub fn attention_weights<B: DataDim, Q: Dim, K: Dim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        key_value: Tensor<(B, K, KVDim), E, D>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, A::NumHeads, Q, K), E, D>, OpError> {
        let mask = cross_mask::<A, B, Q, K>(query_padding_mask, key_value_padding_mask)?;
        let query = sublayer_input(&self.norm, query)?;
        self.attention.attention_weights(query, key_value, &mask)
    }

    /// The keys and values of the source.
    pub(crate) fn project<B: DataDim, K: Dim, T: Tape<E, D>>(
        &self,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
    ) -> Result<KeysAndValues<B, K, A, E, D, T>, OpError> {
        let key_value = self.attention.rank_group.enter(key_value)?;
        let key = self.attention.key_proj.column_parallel(key_value.clone())?; // (B, K, H*QKDim)
        Ok((key, self.attention.value_proj.column_parallel(key_value)?)) // (B, K, H*VODim)
    }

    /// [`forward`](Self::forward) from a source that is [projected](Self::project). Decoding projects it once, in
    /// advance.
    pub(crate) fn forward_projected<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        source: KeysAndValues<B, K, A, E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        residual_norm(&self.norm, query, |x| {
            let query = self.attention.query_proj.column_parallel(self.attention.rank_group.enter(x)?)?; // (B, Q, H*QKDim)
            self.attention.attend_and_project(query, source, mask)
        })
    }
}

/// The [`mk_cross_mask`] of the layers of `A`.
pub(crate) fn cross_mask<A: Arch, B: DataDim, Q: Dim, K: Dim>(
    query_padding: &PaddingMask<B, Q>,
    key_padding: &PaddingMask<B, K>,
) -> Result<AttentionMask<B, Q, K>, OpError> {
    mk_cross_mask::<<A::Conventions as Conventions>::PaddingRule, B, Q, K>(query_padding, key_padding)
        .map_err(dim_error("cross-attention"))
}
