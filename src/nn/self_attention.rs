use super::{
    Arch, Conventions, KeyValueCache, MHAttention, Norm,
    arch::rotary,
    norm::{try_residual_norm, try_sublayer_input},
};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded, Product},
    mask::{CausalKind, MaskKind, PaddingMask, mk_mask},
    module,
    ops::{OpError, Real, try_attention_weights, try_dropout, try_rotate_heads, try_split_heads},
};
use dfdx::{shapes::HasShape, tensor::Tensor};
use typed_transformer_macros::panicking;

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
#[module(output = EmbedDim)]
pub struct SelfAttention<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E, D> {
    /// The attention; query, key, value and output all have width `EmbedDim`.
    pub attention: MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
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
        let mask = mk_mask::<Mask, <A::Conventions as Conventions>::PaddingRule, B, S>(padding_mask);
        try_residual_norm(&self.norm, input, |x| {
            let query = self.attention.query_proj.try_forward(x.clone())?; // (B, S, H*QKDim)
            let key = self.attention.key_proj.try_forward(x.clone())?; // (B, S, H*QKDim)
            let [query, key] = Self::try_rotate(0, [query, key])?;
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
        let mask = mk_mask::<Mask, <A::Conventions as Conventions>::PaddingRule, B, S>(padding_mask);
        let x = try_sublayer_input(&self.norm, input)?;
        let query = self.attention.query_proj.try_forward(x.clone())?;
        let [query, key] = Self::try_rotate(0, [query, self.attention.key_proj.try_forward(x)?])?;
        let (query, key) = (try_split_heads(query)?, try_split_heads(key)?);
        let (scale, mask_fill) = (A::Conventions::ATTENTION_SCALE, A::Conventions::MASK_FILL);
        try_attention_weights::<_, _, _, _, A::QKDim, _, _, _>(query, key, &mask, scale, mask_fill)
    }

    /// The query and the key, rotated by their positions from `start` on if the conventions have rotary positions.
    fn try_rotate<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        start: usize,
        query_and_key: [Tensor<(B, S, Product<A::NumHeads, A::QKDim>), E, D, T>; 2],
    ) -> Result<[Tensor<(B, S, Product<A::NumHeads, A::QKDim>), E, D, T>; 2], OpError> {
        let Some(rotary) = (const { rotary::<A::Conventions>() }) else { return Ok(query_and_key) };
        let [query, key] = query_and_key;
        Ok([try_rotate_heads(query, start, rotary)?, try_rotate_heads(key, start, rotary)?])
    }

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
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError>
    where
        Mask: CausalKind,
    {
        let (start, mask) = (cache.len(), cache.mask_of_kind::<Mask, S>(input.shape().1));
        try_residual_norm(&self.norm, input, |x| {
            let query = self.attention.query_proj.try_forward(x.clone())?; // (B, S, H*QKDim)
            let key = self.attention.key_proj.try_forward(x.clone())?; // (B, S, H*QKDim)
            let [query, key] = Self::try_rotate(start, [query, key])?;
            let value = self.attention.value_proj.try_forward(x)?; // (B, S, H*VODim)
            cache.try_append(&key, &value)?;
            let (keys, values) = (cache.keys().clone(), cache.values().clone()); // (B, CacheCapacity<MaxLen>, …)
            let attended = self.attention.try_attend(query, keys, values, &mask)?;
            try_dropout(self.attention.output_proj.try_forward(attended)?, A::DROPOUT)
        })
    }
}
