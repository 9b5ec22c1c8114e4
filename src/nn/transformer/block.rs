use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim};
use crate::mask::{CausalKind, MaskKind, NoMask, PaddingMask};
use crate::module;
use crate::nn::{Arch, Cache, Conventions, FeedForward, KeyValueCache, Layers, Norm, SelfAttention, optional_norm};
use crate::ops::{OpError, Real};
use dfdx::tensor::{Cpu, Tensor};

/// A layer that reads one sequence: self-attention, then feed forward.
///
/// With [`NoMask`] it is an [`EncoderLayer`], with [`CausalMask`](crate::mask::CausalMask) a layer of a
/// [`DecoderOnly`](crate::nn::DecoderOnly) model.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let block = Block::<EmbedDim, CausalMask, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     block.forward(x, &PaddingMask::without_padding((Batch, SeqLen)))?;
/// # Ok::<(), OpError>(())
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
    pub fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.feed_forward_after(self.self_attention.forward(input, padding_mask)?)
    }

    /// Decodes the next positions of a sequence: [`SelfAttention::forward_cached`], then feed forward.
    pub fn forward_cached<B: DataDim, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut KeyValueCache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError>
    where
        Mask: CausalKind,
    {
        self.feed_forward_after(self.self_attention.forward_cached(input, cache)?)
    }

    /// The rest of the block, from the output of its self-attention.
    fn feed_forward_after<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        attn_out: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        // The sublayers have no norms of their own if they share this one.
        let attn_out = optional_norm(&self.norm, attn_out)?;
        optional_norm(&self.norm, self.feed_forward.forward(attn_out)?)
    }
}

/// Self-attention, then feed forward (*The Typed Transformer*, "Encoder block").
///
/// The type of its self-attention has [`NoMask`], because an encoder sees its whole input.
///
/// With [`NormPlacement::Post`](crate::nn::NormPlacement::Post):
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
///     layer.forward(x, &PaddingMask::without_padding((Batch, SrcLen)))?;
/// # Ok::<(), OpError>(())
/// ```
pub type EncoderLayer<EmbedDim, A, E = f32, D = Cpu> = Block<EmbedDim, NoMask, A, E, D>;

/// A stack of blocks: an [`Encoder`], or the layers of a [`DecoderOnly`](crate::nn::DecoderOnly) model.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let stack = BlockStack::<EmbedDim, NumLayers, CausalMask, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     stack.forward(x, &PaddingMask::without_padding((Batch, SeqLen)))?;
/// # Ok::<(), OpError>(())
/// ```
#[module(output = EmbedDim)]
pub struct BlockStack<EmbedDim: ConstDim, NumLayers: ConstDim, Mask: MaskKind, A: Arch, E, D> {
    /// The layers, first to last.
    pub layers: Layers<NumLayers, Block<EmbedDim, Mask, A, E, D>>,
    /// The norm after the last layer, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.has_final_norm())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, NumLayers: ConstDim, Mask: MaskKind, A: Arch, E: Real, D: Backend<E>>
    BlockStack<EmbedDim, NumLayers, Mask, A, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    pub fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        embeds: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let output = self.layers.iter().try_fold(embeds, |embeds, layer| layer.forward(embeds, padding_mask));
        optional_norm(&self.norm, output?)
    }

    /// [`SelfAttention::attention_weights`](crate::nn::SelfAttention::attention_weights) of each layer.
    pub(crate) fn attention_weights<B: DataDim, S: Dim>(
        &self,
        mut embeds: Tensor<(B, S, EmbedDim), E, D>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Vec<Tensor<(B, A::NumHeads, S, S), E, D>>, OpError> {
        let layer_attention_weights = |layer: &Block<EmbedDim, Mask, A, E, D>| {
            let attention_weights = layer.self_attention.attention_weights(embeds.clone(), padding_mask)?;
            embeds = layer.forward(embeds.clone(), padding_mask)?;
            Ok(attention_weights)
        };
        self.layers.iter().map(layer_attention_weights).collect()
    }
}

impl<EmbedDim: ConstDim, NumLayers: ConstDim, Mask: CausalKind, A: Arch, E: Real, D: Backend<E>>
    BlockStack<EmbedDim, NumLayers, Mask, A, E, D>
{
    /// [`Block::forward_cached`] of each layer. [`Cache::advance`] has counted the positions.
    pub(crate) fn forward_cached<B: DataDim, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut Cache<B, MaxLen, NumLayers, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError> {
        let mut layers = self.layers.iter().zip(&mut cache.layers);
        let output = layers.try_fold(input, |input, (layer, cache)| layer.forward_cached(input, cache))?;
        optional_norm(&self.norm, output)
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
///     encoder.forward(embeds, &PaddingMask::without_padding((Batch, SrcLen)))?;
/// # Ok::<(), OpError>(())
/// ```
pub type Encoder<EmbedDim, NumLayers, A, E = f32, D = Cpu> = BlockStack<EmbedDim, NumLayers, NoMask, A, E, D>;
