use super::{
    Arch, AttentionKind, Conventions, MHAttention, Norm,
    cache::CrossKeyValues,
    norm::{around, try_read},
};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    mask::{AttentionMask, PaddingMask, mk_cross_mask},
    module,
    ops::{OpError, Real, mismatch},
};
use dfdx::tensor::{Tape, Tensor, WithEmptyTape};
use typed_transformer_macros::panicking;

module! {
    /// One sequence attends to another (*The Typed Transformer*, "Cross-attention").
    ///
    /// `norm(query + attention(query, key_value, key_value))`, or with the norm elsewhere, as the style
    /// of `A` says: it lets the decoder read its input in the light of what the encoder made of the
    /// source.
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
    pub struct CrossAttention<QDim: ConstDim, KVDim: ConstDim, A: Arch; E, D> -> QDim {
        /// The attention, which reads `KVDim` and answers in `QDim`.
        pub attention: module MHAttention<QDim, KVDim, KVDim, QDim, A, E, D>,
        /// Its norm, where it has one of its own.
        pub norm: optional(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())
            module Norm<QDim, A, E, D>,
    }
}

impl<QDim: ConstDim, KVDim: ConstDim, A: Arch, E: Real, D: Backend<E>> CrossAttention<QDim, KVDim, A, E, D> {
    /// `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) -> (B, Q, QDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    #[panicking]
    pub fn try_forward<B: Dim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let mask = mk_cross_mask::<<A::Conventions as Conventions>::Padding, B, Q, K>(
            query_padding_mask,
            key_value_padding_mask,
        )
        .map_err(mismatch("cross-attention"))?;
        let around = around(&self.norm);
        match A::Conventions::ATTENTION {
            AttentionKind::DotProduct => {
                let maps = self.attention.maps();
                D::try_cross_attention(query, key_value, &maps, &mask, &around)
            }
            AttentionKind::SumOfValues => around.try_apply(query, |query| {
                let key = key_value.with_empty_tape();
                self.attention.try_forward(query, key, key_value, &mask)
            }),
        }
    }

    /// How much each query attends to each key in each head: `(B, Q, QDim), (B, K, KVDim), padding (B, Q),
    /// padding (B, K) -> (B, NumHeads, Q, K)`; [`MHAttention::try_weights`] of what the sublayer reads.
    ///
    /// # Errors
    /// Those of [`MHAttention::try_weights`].
    pub fn try_weights<B: Dim, Q: Dim, K: Dim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        key_value: Tensor<(B, K, KVDim), E, D>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, A::NumHeads, Q, K), E, D>, OpError> {
        let mask = mk_cross_mask::<<A::Conventions as Conventions>::Padding, B, Q, K>(
            query_padding_mask,
            key_value_padding_mask,
        )
        .map_err(mismatch("cross-attention"))?;
        let query = try_read(&self.norm, query)?;
        self.attention.try_weights(query, key_value, &mask)
    }

    /// The keys and values of a source, for [`try_forward_cached`](Self::try_forward_cached).
    pub(crate) fn try_source<B: Dim, K: Dim>(
        &self,
        key_value: Tensor<(B, K, KVDim), E, D>,
    ) -> Result<CrossKeyValues<B, K, A, E, D>, OpError> {
        Ok((
            self.attention.key_proj.try_forward(key_value.clone())?,
            self.attention.value_proj.try_forward(key_value)?,
        ))
    }

    /// [`try_forward`](Self::try_forward) to a source that is projected already.
    pub(crate) fn try_forward_cached<B: Dim, Q: Dim, K: Dim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        (keys, values): &CrossKeyValues<B, K, A, E, D>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D>, OpError> {
        around(&self.norm)
            .try_apply(query, |query| self.attention.try_attend(query, keys.clone(), values.clone(), mask))
    }
}
