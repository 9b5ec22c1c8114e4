use super::{MHAttention, SelfConventions, rotate};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim};
use crate::mask::{AttentionMask, CausalKind, MaskKind, PaddingMask, mk_mask};
use crate::module;
use crate::nn::{Arch, CacheUpdate, Conventions, KeyValueCache, Norm, residual_norm, rotary, sublayer_input};
use crate::ops::{OpError, Real, attention_weights, split_heads};
use dfdx::{shapes::HasShape, tensor::Tensor};

/// A sequence attends to itself (*The Typed Transformer*, "Self-attention").
///
/// `norm(x + attention(x, x, x))`; the conventions of `A` may put the norm elsewhere. The type `Mask` says whether a
/// position sees later ones: [`NoMask`](crate::mask::NoMask) or [`CausalMask`](crate::mask::CausalMask).
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let layer = SelfAttention::<EmbedDim, CausalMask, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
///     layer.forward(x, &PaddingMask::without_padding((Batch, TgtLen)))?;
/// # Ok::<(), OpError>(())
/// ```
#[module(conventions = SelfConventions<Mask, A>, output = EmbedDim)]
pub struct SelfAttention<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E, D> {
    /// The attention; query, key, value and output all have width `EmbedDim`.
    pub attention: MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E: Real, D: Backend<E>> SelfAttention<EmbedDim, Mask, A, E, D> {
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    pub fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let mask = self_mask::<Mask, A, B, S>(padding_mask);
        self.forward_from(0, input, &mask, Ok)
    }

    /// The attention weights of each head: `(B, S, EmbedDim), padding (B, S) -> (B, NumHeads, S, S)`, by
    /// [`MHAttention::attention_weights`].
    pub fn attention_weights<B: DataDim, S: Dim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, A::NumHeads, S, S), E, D>, OpError> {
        let mask = self_mask::<Mask, A, B, S>(padding_mask);
        let x = sublayer_input(&self.norm, input)?;
        let rotary = const { rotary::<A::Conventions>() };
        let x = self.attention.rank_group.enter(x)?;
        let query = rotate(self.attention.query_proj.column_parallel(x.clone())?, 0, rotary)?;
        let key = rotate(self.attention.key_proj.column_parallel(x)?, 0, rotary)?;
        let (query, key) = (split_heads(query)?, split_heads(key)?);
        attention_weights::<_, _, _, _, A::QKDim, _, _, _>(query, key, &mask, A::attention_options())
    }

    /// Decodes the next positions of a sequence whose earlier positions are in `cache`:
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`.
    ///
    /// The output equals that of [`forward`](Self::forward) on the whole sequence, without padding, at these positions.
    /// The keys and values of the new positions join the cache.
    ///
    /// # Errors
    /// [`OpError::Range`] if the cache has no room for the new positions.
    pub fn forward_cached<B: DataDim, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut KeyValueCache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError>
    where
        Mask: CausalKind,
    {
        cache.slide::<Mask>()?;
        let (start, mask) = (cache.len(), cache.mask_of_kind::<Mask, S>(input.shape().1));
        self.forward_from(start, input, &mask, |new| cache.update(new))
    }

    /// The layer for positions from `start` on. `update_cache` returns all keys and values, the cached ones first.
    fn forward_from<B: DataDim, S: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        start: usize,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, K>,
        update_cache: impl CacheUpdate<B, S, K, A, E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        residual_norm(&self.norm, input, |x| {
            let rotary = const { rotary::<A::Conventions>() };
            let x = self.attention.rank_group.enter(x)?;
            let query = rotate(self.attention.query_proj.column_parallel(x.clone())?, start, rotary)?; // (B, S, H*QKDim)
            let key = rotate(self.attention.key_proj.column_parallel(x.clone())?, start, rotary)?; // (B, S, H*QKDim)
            let value = self.attention.value_proj.column_parallel(x)?; // (B, S, H*VODim)
            self.attention.attend_and_project(query, update_cache((key, value))?, mask)
        })
    }
}

/// [`mk_mask`] with the padding rule of `A`.
pub(crate) fn self_mask<Mask: MaskKind, A: Arch, B: DataDim, S: Dim>(
    padding: &PaddingMask<B, S>,
) -> AttentionMask<B, S, S> {
    mk_mask::<Mask, <A::Conventions as Conventions>::PaddingRule, B, S>(padding)
}
