use super::{Arch, Conventions, FeedForward, KeyValueCache, Norm, SelfAttention, norm::try_optional_norm};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    mask::{CausalMask, MaskKind, PaddingMask},
    module,
    ops::{OpError, Real},
};
use dfdx::tensor::{Tape, Tensor};
use typed_transformer_macros::panicking;

module! {
    /// Self-attention, then feed forward: what every layer is made of that reads one sequence.
    ///
    /// It is an [`EncoderLayer`](super::EncoderLayer) where `Mask` hides nothing, and a layer of a
    /// [`DecoderOnly`](super::DecoderOnly) model where it is causal.
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, nn::*, prelude::*};
    /// # let device = Cpu::default();
    /// let block = Block::<EmbedDim, CausalMask, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
    ///     block.forward(x, &PaddingMask::without_padding((Batch, SeqLen)));
    /// ```
    pub struct Block<EmbedDim: ConstDim, Mask: MaskKind, A: Arch; E, D> -> EmbedDim {
        /// Positions inform each other.
        pub self_attention: module SelfAttention<EmbedDim, Mask, A, E, D>,
        /// Each position by itself.
        pub feed_forward: module FeedForward<EmbedDim, A, E, D>,
        /// The norm of both, where they share one.
        pub norm: optional(<A::Conventions as Conventions>::NORM_PLACEMENT.per_block())
            module Norm<EmbedDim, A, E, D>,
    }
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E: Real, D: Backend<E>> Block<EmbedDim, Mask, A, E, D> {
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
        let attn_out = self.self_attention.try_forward(input, padding_mask)?;
        let attn_out = try_optional_norm(&self.norm, attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(attn_out)?)
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> Block<EmbedDim, CausalMask, A, E, D> {
    /// [`SelfAttention::try_forward_cached`], then the rest of the block.
    ///
    /// # Errors
    /// Those of [`SelfAttention::try_forward_cached`].
    pub fn try_forward_cached<B: Dim, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut KeyValueCache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError> {
        let attn_out = self.self_attention.try_forward_cached(input, cache)?;
        let attn_out = try_optional_norm(&self.norm, attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(attn_out)?)
    }
}
