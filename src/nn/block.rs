use super::{Arch, Conventions, FeedForward, KeyValueCache, Norm, SelfAttention, norm::try_optional_norm};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded},
    mask::{CausalKind, MaskKind, NoMask, PaddingMask},
    module,
    ops::{OpError, Real},
};
use dfdx::tensor::{Cpu, Tensor};
use typed_transformer_macros::panicking;

/// A layer that reads one sequence: self-attention, then feed forward.
///
/// With [`NoMask`] it is an [`EncoderLayer`], with [`CausalMask`](crate::mask::CausalMask) a layer of a
/// [`DecoderOnly`](super::DecoderOnly) model.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let block = Block::<EmbedDim, CausalMask, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     block.forward(x, &PaddingMask::without_padding((Batch, SeqLen)));
/// ```
#[module(output = EmbedDim)]
pub struct Block<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E, D> {
    /// Each position attends to the positions that `Mask` shows to it.
    pub self_attention: SelfAttention<EmbedDim, Mask, A, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<EmbedDim, A, E, D>,
    /// The norm that both sublayers share, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_block())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, E: Real, D: Backend<E>> Block<EmbedDim, Mask, A, E, D> {
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
        let attn_out = self.self_attention.try_forward(input, padding_mask)?;
        let attn_out = try_optional_norm(&self.norm, attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(attn_out)?)
    }

    /// Decodes the next positions of a sequence: [`SelfAttention::try_forward_cached`], then feed forward.
    ///
    /// # Errors
    /// The errors of [`SelfAttention::try_forward_cached`].
    pub fn try_forward_cached<B: MaybeSharded, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut KeyValueCache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError>
    where
        Mask: CausalKind,
    {
        let attn_out = self.self_attention.try_forward_cached(input, cache)?;
        let attn_out = try_optional_norm(&self.norm, attn_out)?;
        try_optional_norm(&self.norm, self.feed_forward.try_forward(attn_out)?)
    }
}

/// Self-attention, then feed forward (*The Typed Transformer*, "Encoder block").
///
/// The type of its self-attention has [`NoMask`], because an encoder sees its whole input.
///
/// With [`NormPlacement::Post`](super::NormPlacement::Post):
///
/// ```text
///           (B, S, EmbedDim)          padding (B, S)
///                  |                         |
///  self_attention: |                         |
///           +------+                         |
///           |      |                         |
///           |  attention <--- mask (B, S, S)
///           |      |
///           +----> + residual
///                  |
///                 norm
///                  |
///           (B, S, EmbedDim)
///                  |
///    feed_forward: |
///           +------+
///           |      |
///           |   hidden
///           |      |
///           |  (B, S, HiddenDim)
///           |      |
///           |  activation
///           |      |
///           |   output
///           |      |
///           +----> + residual
///                  |
///                 norm
///                  |
///           (B, S, EmbedDim)
/// ```
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let layer = EncoderLayer::<EmbedDim, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> =
///     layer.forward(x, &PaddingMask::without_padding((Batch, SrcLen)));
/// ```
pub type EncoderLayer<EmbedDim, A, E = f32, D = Cpu> = Block<EmbedDim, NoMask, A, E, D>;
