use super::{Arch, LayerNorm, Linear, Style};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    module,
    ops::{Activation, OpError, Real, or_panic},
};
use dfdx::tensor::{Tape, Tensor, WithEmptyTape};

module! {
    /// Each position by itself through a wider, non-linear layer (*The Typed Transformer*, "Feed
    /// forward").
    ///
    /// `norm(x + output(activation(hidden(x))))`
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
    /// let layer = FeedForward::<EmbedDim, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = layer.forward(x);
    /// ```
    pub struct FeedForward<EmbedDim: ConstDim, A: Arch; E, D> -> EmbedDim {
        /// Into the hidden width.
        pub hidden: module Linear<EmbedDim, A::HiddenDim, E, D>,
        /// And back.
        pub output: module Linear<A::HiddenDim, EmbedDim, E, D>,
        /// The norm of the sum.
        pub norm: module LayerNorm<EmbedDim, A, E, D>,
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> FeedForward<EmbedDim, A, E, D> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    ///
    /// # Panics
    /// If the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    #[must_use]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Tensor<(B, S, EmbedDim), E, D, T> {
        or_panic(self.try_forward(input))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let hidden = self.hidden.try_forward(input.with_empty_tape())?;
        let output = self
            .output
            .try_forward(<A::Style as Style>::Activation::try_apply(hidden)?)?;
        self.norm.try_forward(D::try_residual(input, output)?)
    }
}
