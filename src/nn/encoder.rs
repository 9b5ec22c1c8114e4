use super::{Arch, EncoderLayer};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    mask::PaddingMask,
    module,
    ops::{OpError, Real, or_panic},
};
use dfdx::tensor::{Tape, Tensor};

module! {
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
    /// #     type Style = TypedTransformer;
    /// # }
    /// # let device = Cpu::default();
    /// let encoder = Encoder::<EmbedDim, NumLayers, Model, f32, Cpu>::build(&device);
    /// let embeds: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> =
    ///     encoder.forward(embeds, &PaddingMask::none((Batch, SrcLen)));
    /// ```
    pub struct Encoder<EmbedDim: ConstDim, NumLayers: ConstDim, A: Arch; E, D> -> EmbedDim {
        /// The layers, first to last.
        pub layers: layers(NumLayers) EncoderLayer<EmbedDim, A, E, D>,
    }
}

impl<EmbedDim: ConstDim, NumLayers: ConstDim, A: Arch, E: Real, D: Backend<E>>
    Encoder<EmbedDim, NumLayers, A, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    ///
    /// # Panics
    /// If two sizes of a run-time dimension differ or the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    #[must_use]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        embeds: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Tensor<(B, S, EmbedDim), E, D, T> {
        or_panic(self.try_forward(embeds, padding_mask))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        embeds: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.layers.iter().try_fold(embeds, |embeds, layer| {
            layer.try_forward(embeds, padding_mask)
        })
    }
}
