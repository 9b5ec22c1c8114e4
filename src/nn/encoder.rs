use super::BlockStack;
use crate::mask::NoMask;

/// Encoder layers one after the other (*The Typed Transformer*, "Encoder stack").
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let encoder = Encoder::<EmbedDim, NumLayers, Model, f32, Cpu>::build(&device);
/// let embeds: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> =
///     encoder.forward(embeds, &PaddingMask::without_padding((Batch, SrcLen)));
/// ```
pub type Encoder<EmbedDim, NumLayers, A, E, D> = BlockStack<EmbedDim, NumLayers, NoMask, A, E, D>;
