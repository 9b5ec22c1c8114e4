use super::{Arch, FeedForward, SelfAttention};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    mask::{NoMask, PaddingMask},
    module,
    ops::{OpError, Real, or_panic},
};
use dfdx::tensor::{Tape, Tensor};

module! {
    /// Self-attention, then feed forward (*The Typed Transformer*, "Encoder block").
    ///
    /// Its self-attention is of type [`NoMask`]: an encoder sees the whole of its input.
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
    /// let layer = EncoderLayer::<EmbedDim, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> =
    ///     layer.forward(x, &PaddingMask::none((Batch, SrcLen)));
    /// ```
    pub struct EncoderLayer<EmbedDim: ConstDim, A: Arch; E, D> -> EmbedDim {
        /// Positions inform each other.
        pub self_attention: module SelfAttention<EmbedDim, NoMask, A, E, D>,
        /// Each position by itself.
        pub feed_forward: module FeedForward<EmbedDim, A, E, D>,
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> EncoderLayer<EmbedDim, A, E, D> {
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    ///
    /// # Panics
    /// If two sizes of a run-time dimension differ or the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    #[must_use]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Tensor<(B, S, EmbedDim), E, D, T> {
        or_panic(self.try_forward(input, padding_mask))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Device`] if the device
    /// fails.
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let attn_out = self.self_attention.try_forward(input, padding_mask)?;
        self.feed_forward.try_forward(attn_out)
    }
}
