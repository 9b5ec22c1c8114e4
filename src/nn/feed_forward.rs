use super::{
    Arch, Conventions, FeedForwardProjection, Norm, Projection,
    norm::{residual_params, try_residual_norm},
};
use crate::{
    backend::{Backend, FeedForwardParams},
    dims::{ConstDim, EndsIn},
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
    /// `(.., EmbedDim) -> (.., EmbedDim)`, for tensors of 1 to 6 axes.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<Dims: EndsIn<EmbedDim>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        if const { Self::has_sublayer_kernel::<T>() } {
            return D::feed_forward_kernel(input, &self.params(), &residual_params(&self.norm));
        }
        try_residual_norm(&self.norm, input, |x| {
            let activation = |x| <A::Conventions as Conventions>::Activation::try_apply(x);
            let mut hidden = activation(self.hidden.try_forward(x)?)?; // (.., HiddenDim)
            for layer in &self.inner {
                hidden = activation(layer.try_forward(hidden)?)?;
            }
            try_dropout(self.output.try_forward(hidden)?, A::FEED_FORWARD_DROPOUT)
        })
    }

    /// Whether the device has a kernel of the whole sublayer. The kernel knows neither inner layers, nor dropout, nor
    /// activations of a user.
    const fn has_sublayer_kernel<T: Tape<E, D>>() -> bool {
        let has_dropout = T::OWNS_TAPE && A::FEED_FORWARD_DROPOUT != 0.0;
        let has_known_activation = <A::Conventions as Conventions>::Activation::KIND.is_some();
        D::HAS_KERNELS && !has_dropout && has_known_activation && A::FEED_FORWARD_EXTRA_LAYERS == 0
    }

    /// The arguments of the kernel.
    fn params(&self) -> FeedForwardParams<'_, EmbedDim, A::HiddenDim, E, D> {
        FeedForwardParams {
            hidden: self.hidden.params(),
            output: self.output.params(),
            activation: <A::Conventions as Conventions>::Activation::KIND,
        }
    }
}
