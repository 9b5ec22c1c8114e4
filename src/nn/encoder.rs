use super::BlockStack;
use crate::mask::NoMask;

/// Encoder layers one after the other (*The Typed Transformer*, "Encoder stack").
///
/// ```
/// # use typed_transformer::{nn::*, prelude::*};
/// # dims! {
/// #     pub VocabSize = 28; pub MaxSeqLen = 15; pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5;
/// #     pub HiddenDim = 5; pub NumLayers = 2; pub SrcLen = 4; pub TgtLen = 3; pub Batch = 2;
/// # }
/// # struct Model;
/// # impl Arch for Model {
/// #     type NumHeads = NumHeads;
/// #     type QKDim = HeadDim;
/// #     type VODim = HeadDim;
/// #     type HiddenDim = HiddenDim;
/// #     type Conventions = TypedTransformer;
/// # }
/// # let device = Cpu::default();
/// let encoder = Encoder::<EmbedDim, NumLayers, Model, f32, Cpu>::build(&device);
/// let embeds: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> =
///     encoder.forward(embeds, &PaddingMask::without_padding((Batch, SrcLen)));
/// ```
pub type Encoder<EmbedDim, NumLayers, A, E, D> = BlockStack<EmbedDim, NumLayers, NoMask, A, E, D>;
