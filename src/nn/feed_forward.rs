use super::{
    Arch, Conventions, FeedForwardProjection, Norm, Projection,
    norm::{residual_params, try_residual_norm},
};
use crate::{
    backend::{Backend, FeedForwardParams, Fused, NotFused},
    dims::{ConstDim, Dim, MaybeSharded},
    module,
    ops::{Activation, OpError, Real, try_dropout},
};
use dfdx::tensor::{Tape, Tensor};
use typed_transformer_macros::panicking;

module! {
    /// A multi-layer perceptron on each position (*The Typed Transformer*, "Feed forward").
    ///
    /// `norm(x + output(activation(hidden(x))))`; the conventions of `A` may put the norm elsewhere. `A` may add
    /// layers of the hidden width between `hidden` and `output`.
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, nn::*, prelude::*};
    /// # let device = Cpu::default();
    /// let layer = FeedForward::<EmbedDim, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = layer.forward(x);
    /// ```
    pub struct FeedForward<EmbedDim: ConstDim, A: Arch; E, D> in A::Conventions -> EmbedDim {
        /// From `EmbedDim` to `HiddenDim`.
        pub hidden: module Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
        /// More layers of the hidden width; each is preceded by the activation.
        pub inner: layers({ A::FEED_FORWARD_EXTRA_LAYERS })
            Projection<A::HiddenDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
        /// From `HiddenDim` back to `EmbedDim`.
        pub output: module Projection<A::HiddenDim, EmbedDim, FeedForwardProjection<A>, E, D>,
        /// The norm, if each sublayer has one.
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
    pub fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let residual = residual_params(&self.norm);
        let input = match D::fused_feed_forward(input, &self.params(), &residual)? {
            Fused(output) => return Ok(output),
            NotFused(input) => input,
        };
        try_residual_norm(&self.norm, input, |x| {
            let activation = |x| <A::Conventions as Conventions>::Activation::try_apply(x);
            let mut hidden = activation(self.hidden.try_forward(x)?)?; // (B, S, HiddenDim)
            for layer in &self.inner {
                hidden = activation(layer.try_forward(hidden)?)?;
            }
            try_dropout(self.output.try_forward(hidden)?, A::FEED_FORWARD_DROPOUT)
        })
    }

    /// The arguments of [`try_forward`](Self::try_forward) for a fused kernel.
    fn params(&self) -> FeedForwardParams<'_, EmbedDim, A::HiddenDim, E, D> {
        FeedForwardParams {
            hidden: self.hidden.params(),
            inner: self.inner.iter().map(Projection::params).collect(),
            output: self.output.params(),
            activation: <A::Conventions as Conventions>::Activation::KIND,
            dropout: A::FEED_FORWARD_DROPOUT,
        }
    }
}
