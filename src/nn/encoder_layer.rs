use super::Block;
use crate::mask::NoMask;

/// Self-attention, then feed forward (*The Typed Transformer*, "Encoder block").
///
/// Its self-attention is of type [`NoMask`]: an encoder sees the whole of its input.
///
/// With the norms where [`NormPlacement::Post`](super::NormPlacement::Post) has them:
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
pub type EncoderLayer<EmbedDim, A, E, D> = Block<EmbedDim, NoMask, A, E, D>;
