use super::{Arch, Conventions, FeedForwardProjection, Norm, Projection, norm::around};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    module,
    ops::{Activation, OpError, Real, try_dropout},
};
use dfdx::tensor::{Tape, Tensor};
use typed_transformer_macros::panicking;

module! {
    /// Each position by itself through a wider, non-linear layer (*The Typed Transformer*, "Feed
    /// forward").
    ///
    /// `norm(x + output(activation(hidden(x))))`, or with the norm elsewhere, as the style of `A` says.
    /// Between `hidden` and `output` there may be more layers of the hidden width.
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, nn::*, prelude::*};
    /// # let device = Cpu::default();
    /// let layer = FeedForward::<EmbedDim, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = layer.forward(x);
    /// ```
    pub struct FeedForward<EmbedDim: ConstDim, A: Arch; E, D> in A::Conventions -> EmbedDim {
        /// Into the hidden width.
        pub hidden: module Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
        /// Layers between the two others, each with the activation before it.
        pub inner: layers({ A::FEED_FORWARD_EXTRA_LAYERS })
            Projection<A::HiddenDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
        /// And back.
        pub output: module Projection<A::HiddenDim, EmbedDim, FeedForwardProjection<A>, E, D>,
        /// Its norm, where it has one of its own.
        pub norm: optional(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())
            module Norm<EmbedDim, A, E, D>,
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> FeedForward<EmbedDim, A, E, D> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let around = around(&self.norm);
        if self.inner.is_empty() {
            let (hidden, output) = (self.hidden.affine(), self.output.affine());
            let dropout = A::FEED_FORWARD_DROPOUT;
            return D::try_feed_forward::<_, _, _, _, <A::Conventions as Conventions>::Activation, _>(
                input, &hidden, &output, &around, dropout,
            );
        }
        around.try_apply(input, |x| {
            let activate = |hidden| <A::Conventions as Conventions>::Activation::try_apply(hidden);
            let hidden = self.hidden.try_forward(x)?;
            let hidden =
                self.inner.iter().try_fold(hidden, |hidden, layer| layer.try_forward(activate(hidden)?))?;
            let output = self.output.try_forward(activate(hidden)?)?;
            try_dropout(output, A::FEED_FORWARD_DROPOUT)
        })
    }
}
