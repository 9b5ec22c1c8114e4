use super::{
    Arch, AttentionKind, Conventions, KeyValueCache, MHAttention, Norm,
    norm::{around, try_read},
};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    mask::{CausalMask, MaskKind, PaddingMask, mk_mask},
    module,
    ops::{OpError, Real},
};
use dfdx::{
    shapes::HasShape,
    tensor::{Tape, Tensor, WithEmptyTape},
};
use typed_transformer_macros::panicking;

module! {
    /// A sequence attends to itself (*The Typed Transformer*, "Self-attention").
    ///
    /// `norm(x + attention(x, x, x))`, or with the norm elsewhere, as the style of `A` says. Whether it
    /// may look ahead is its type's `Mask`: [`NoMask`](crate::mask::NoMask) or
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
        /// The attention, whose four widths are one here.
        pub attention: module MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, E, D>,
        /// Its norm, where it has one of its own.
        pub norm: optional(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())
            module Norm<EmbedDim, A, E, D>,
    }
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E: Real, D: Backend<E>>
    SelfAttention<EmbedDim, Mask, A, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    #[panicking]
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let mask = mk_mask::<Mask, <A::Conventions as Conventions>::Padding, B, S>(padding_mask);
        let around = around(&self.norm);
        match A::Conventions::ATTENTION {
            AttentionKind::DotProduct => D::try_self_attention(input, &self.attention.maps(), &mask, &around),
            AttentionKind::SumOfValues => around.try_apply(input, |x| {
                let (query, key) = (x.with_empty_tape(), x.with_empty_tape());
                self.attention.try_forward(query, key, x, &mask)
            }),
        }
    }

    /// How much each position attends to each other in each head: `(B, S, EmbedDim), padding (B, S) ->
    /// (B, NumHeads, S, S)`; [`MHAttention::try_weights`] of what the sublayer reads.
    ///
    /// # Errors
    /// Those of [`MHAttention::try_weights`].
    pub fn try_weights<B: Dim, S: Dim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, A::NumHeads, S, S), E, D>, OpError> {
        let mask = mk_mask::<Mask, <A::Conventions as Conventions>::Padding, B, S>(padding_mask);
        let x = try_read(&self.norm, input)?;
        self.attention.try_weights(x.clone(), x, &mask)
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> SelfAttention<EmbedDim, CausalMask, A, E, D> {
    /// Reads the next positions of a sequence whose earlier ones are in `cache`, and adds them to it:
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`.
    ///
    /// The numbers are those that [`try_forward`](Self::try_forward) gives for these positions of the whole
    /// sequence, without padding.
    ///
    /// # Errors
    /// Those of [`KeyValueCache::try_append`].
    pub fn try_forward_cached<B: Dim, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut KeyValueCache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError> {
        let mask = cache.mask(input.shape().1);
        around(&self.norm).try_apply(input, |x| {
            let key = self.attention.key_proj.try_forward(x.clone())?;
            let value = self.attention.value_proj.try_forward(x.clone())?;
            cache.try_append(&key, &value)?;
            let (keys, values) = (cache.keys().clone(), cache.values().clone());
            self.attention.try_attend(x, keys, values, &mask)
        })
    }
}
