use super::{Arch, Block, Cache, Conventions, Norm, norm::try_optional_norm};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded},
    mask::{CausalKind, MaskKind, NoMask, PaddingMask},
    module,
    ops::{OpError, Real},
};
use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, Tensor},
};
use typed_transformer_macros::panicking;

/// A stack of blocks: an [`Encoder`], or the layers of a [`DecoderOnly`](super::DecoderOnly) model.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let stack = BlockStack::<EmbedDim, NumLayers, CausalMask, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     stack.forward(x, &PaddingMask::without_padding((Batch, SeqLen)));
/// ```
#[module(output = EmbedDim)]
pub struct BlockStack<EmbedDim: ConstDim, NumLayers: ConstDim, Mask: MaskKind, A: Arch, E, D> {
    /// The layers, first to last.
    #[layers(NumLayers::SIZE)]
    pub layers: Vec<Block<EmbedDim, Mask, A, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, NumLayers: ConstDim, Mask: MaskKind, A: Arch, E: Real, D: Backend<E>>
    BlockStack<EmbedDim, NumLayers, Mask, A, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        embeds: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let output = self.layers.iter().try_fold(embeds, |embeds, layer| layer.try_forward(embeds, padding_mask));
        try_optional_norm(&self.norm, output?)
    }

    /// [`SelfAttention::try_attention_weights`](super::SelfAttention::try_attention_weights) of each layer.
    pub(crate) fn try_attention_weights<B: MaybeSharded, S: Dim>(
        &self,
        mut embeds: Tensor<(B, S, EmbedDim), E, D>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Vec<Tensor<(B, A::NumHeads, S, S), E, D>>, OpError> {
        let layer_attention_weights = |layer: &Block<EmbedDim, Mask, A, E, D>| {
            let attention_weights = layer.self_attention.try_attention_weights(embeds.clone(), padding_mask)?;
            embeds = layer.try_forward(embeds.clone(), padding_mask)?;
            Ok(attention_weights)
        };
        self.layers.iter().map(layer_attention_weights).collect()
    }
}

impl<EmbedDim: ConstDim, NumLayers: ConstDim, Mask: CausalKind, A: Arch, E: Real, D: Backend<E>>
    BlockStack<EmbedDim, NumLayers, Mask, A, E, D>
{
    /// [`Block::try_forward_cached`] of each layer.
    pub(crate) fn try_forward_cached<B: MaybeSharded, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut Cache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError> {
        let (batch, next, _) = *input.shape();
        cache.check_fits(batch, next)?;
        let mut layers = self.layers.iter().zip(&mut cache.layers);
        let output = layers.try_fold(input, |input, (layer, cache)| layer.try_forward_cached(input, cache))?;
        cache.len += next.size();
        try_optional_norm(&self.norm, output)
    }
}

/// A stack of encoder layers (*The Typed Transformer*, "Encoder stack").
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let encoder = Encoder::<EmbedDim, NumLayers, Model, f32, Cpu>::build(&device);
/// let embeds: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> =
///     encoder.forward(embeds, &PaddingMask::without_padding((Batch, SrcLen)));
/// ```
pub type Encoder<EmbedDim, NumLayers, A, E = f32, D = Cpu> = BlockStack<EmbedDim, NumLayers, NoMask, A, E, D>;
