use super::{Arch, Conventions, FeedForwardProjection, Norm, Projection, norm::try_residual_norm};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, EndsIn},
    module,
    ops::{Activation, OpError, Real, try_dropout},
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

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
#[module(conventions = A::Conventions, output = EmbedDim)]
pub struct FeedForward<EmbedDim: ConstDim, A: Arch, E, D> {
    /// From `EmbedDim` to `HiddenDim`.
    pub hidden: Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
    /// More layers of the hidden width; each is preceded by the activation.
    #[layers(A::FEED_FORWARD_EXTRA_LAYERS)]
    pub inner: Vec<Projection<A::HiddenDim, A::HiddenDim, FeedForwardProjection<A>, E, D>>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Projection<A::HiddenDim, EmbedDim, FeedForwardProjection<A>, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
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
        try_residual_norm(&self.norm, input, |x| {
            let activation = |x| <A::Conventions as Conventions>::Activation::try_apply(x);
            let mut hidden = activation(self.hidden.try_forward(x)?)?; // (.., HiddenDim)
            for layer in &self.inner {
                hidden = activation(layer.try_forward(hidden)?)?;
            }
            try_dropout(self.output.try_forward(hidden)?, A::FEED_FORWARD_DROPOUT)
        })
    }
}
