use super::{
    Arch, Conventions, KeyValueCache, MHAttention, Norm,
    norm::{residual_params, try_residual_norm, try_sublayer_input},
};
use crate::{
    backend::{Backend, Fused, NotFused},
    dims::{ConstDim, Dim, MaybeSharded},
    mask::{CausalMask, MaskKind, PaddingMask, mk_mask},
    module,
    ops::{OpError, Real, try_dropout},
};
use dfdx::{
    shapes::HasShape,
    tensor::{Tape, Tensor, WithEmptyTape},
};
use typed_transformer_macros::panicking;

module! {
    /// A sequence attends to itself (*The Typed Transformer*, "Self-attention").
    ///
    /// `norm(x + attention(x, x, x))`; the conventions of `A` may put the norm elsewhere. The type `Mask` says
    /// whether a position sees later ones: [`NoMask`](crate::mask::NoMask) or
    /// [`CausalMask`](crate::mask::CausalMask).
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, nn::*, prelude::*};
    /// # let device = Cpu::default();
    /// let layer = SelfAttention::<EmbedDim, CausalMask, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
    ///     layer.forward(x, &PaddingMask::without_padding((Batch, TgtLen)));
    /// ```
    pub struct SelfAttention<EmbedDim: ConstDim, Mask: MaskKind, A: Arch; E, D> -> EmbedDim {
        /// The attention; query, key, value and output all have width `EmbedDim`.
        pub attention: module MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, E, D>,
        /// The norm, if each sublayer has one.
        pub norm: optional(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())
            module Norm<EmbedDim, A, E, D>,
    }
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E: Real, D: Backend<E>> SelfAttention<EmbedDim, Mask, A, E, D> {
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let mask = mk_mask::<Mask, <A::Conventions as Conventions>::Padding, B, S>(padding_mask);
        let (params, residual) = (self.attention.params(), residual_params(&self.norm));
        let input = match D::fused_self_attention(input, &params, &mask, &residual)? {
            Fused(output) => return Ok(output),
            NotFused(input) => input,
        };
        try_residual_norm(&self.norm, input, |x| {
            let query = self.attention.query_proj.try_forward(x.with_empty_tape())?; // (B, S, H*QKDim)
            let key = self.attention.key_proj.try_forward(x.with_empty_tape())?; // (B, S, H*QKDim)
            let value = self.attention.value_proj.try_forward(x)?; // (B, S, H*VODim)
            let attended = self.attention.try_attend(query, key, value, &mask)?; // softmax(scale · q kᵀ) v
            try_dropout(self.attention.output_proj.try_forward(attended)?, A::DROPOUT)
        })
    }

    /// The attention weights of each head: `(B, S, EmbedDim), padding (B, S) -> (B, NumHeads, S, S)`, by
    /// [`MHAttention::try_attention_weights`].
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    pub fn try_attention_weights<B: MaybeSharded, S: Dim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, A::NumHeads, S, S), E, D>, OpError> {
        let mask = mk_mask::<Mask, <A::Conventions as Conventions>::Padding, B, S>(padding_mask);
        let x = try_sublayer_input(&self.norm, input)?;
        self.attention.try_attention_weights(x.clone(), x, &mask)
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> SelfAttention<EmbedDim, CausalMask, A, E, D> {
    /// Decodes the next positions of a sequence whose earlier positions are in `cache`:
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`.
    ///
    /// The output equals that of [`try_forward`](Self::try_forward) for these positions of the whole sequence
    /// without padding. The keys and values of the new positions join the cache.
    ///
    /// # Errors
    /// [`OpError::Range`] if the cache has no room for the new positions; [`OpError::Dim`] if two sizes of a
    /// run-time dimension differ; [`OpError::Device`] if the device fails.
    pub fn try_forward_cached<B: MaybeSharded, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut KeyValueCache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError> {
        let mask = cache.mask(input.shape().1);
        try_residual_norm(&self.norm, input, |x| {
            let query = self.attention.query_proj.try_forward(x.clone())?; // (B, S, H*QKDim)
            let key = self.attention.key_proj.try_forward(x.clone())?; // (B, S, H*QKDim)
            let value = self.attention.value_proj.try_forward(x)?; // (B, S, H*VODim)
            cache.try_append(&key, &value)?;
            let (keys, values) = (cache.keys().clone(), cache.values().clone()); // (B, MaxLen, …)
            let attended = self.attention.try_attend(query, keys, values, &mask)?;
            try_dropout(self.attention.output_proj.try_forward(attended)?, A::DROPOUT)
        })
    }
}
