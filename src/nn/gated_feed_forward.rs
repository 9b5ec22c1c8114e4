use super::{Arch, Conventions, FeedForwardProjection, Norm, Projection, norm::try_residual_norm};
use crate::{
    backend::{Arithmetic, Backend, Tape},
    dims::{ConstDim, EndsIn},
    module,
    ops::{Activation, OpError, Real, try_arithmetic, try_dropout},
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// A feed-forward layer with a gate ([Shazeer, 2020](https://arxiv.org/abs/2002.05202)).
///
/// `norm(x + output(activation(gate(x)) · hidden(x)))`; the conventions of `A` may put the norm elsewhere. With the
/// activation [`Silu`](crate::ops::Silu) it is SwiGLU, with [`Gelu`](crate::ops::Gelu) GeGLU, with
/// [`Relu`](crate::ops::Relu) ReGLU.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let layer = GatedFeedForward::<EmbedDim, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = layer.forward(x);
/// ```
#[module(conventions = A::Conventions, output = EmbedDim)]
pub struct GatedFeedForward<EmbedDim: ConstDim, A: Arch, E, D> {
    /// From `EmbedDim` to `HiddenDim`, before the activation.
    pub gate: Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
    /// From `EmbedDim` to `HiddenDim`, without an activation.
    pub hidden: Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Projection<A::HiddenDim, EmbedDim, FeedForwardProjection<A>, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> GatedFeedForward<EmbedDim, A, E, D> {
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
            let gate = self.gate.try_forward(x.clone())?; // (.., HiddenDim)
            let gate = <A::Conventions as Conventions>::Activation::try_apply(gate)?;
            let hidden = self.hidden.try_forward(x)?; // (.., HiddenDim)
            let gated = try_arithmetic("gated feed-forward", Arithmetic::Mul, gate, hidden)?;
            try_dropout(self.output.try_forward(gated)?, A::FEED_FORWARD_DROPOUT)
        })
    }
}
