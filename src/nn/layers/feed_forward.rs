use crate::backend::{Arithmetic, Backend, Tape};
use crate::dims::{ConstDim, DataShape, EndsIn, Factor};
use crate::module;
use crate::nn::group::{HiddenGroupOf, ensure_one_group};
use crate::nn::{Arch, Conventions, FeedForwardProjection, Norm, Projection, residual_norm};
use crate::ops::{Activation, OpError, Real, elementwise};
use dfdx::tensor::Tensor;

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
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = layer.forward(x)?;
/// # Ok::<(), OpError>(())
/// ```
#[module(conventions = A::Conventions, output = EmbedDim)]
pub struct FeedForward<EmbedDim: ConstDim, A: Arch, E, D> {
    /// From `EmbedDim` to `HiddenDim`.
    pub hidden: Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
    /// More layers of the hidden width; each is preceded by the activation.
    #[layers(A::FEED_FORWARD_EXTRA_LAYERS)]
    pub inner: Vec<Projection<<A::HiddenDim as Factor>::Whole, A::HiddenDim, FeedForwardProjection<A>, E, D>>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Projection<A::HiddenDim, EmbedDim, FeedForwardProjection<A>, E, D>,
    /// The group that divides the hidden columns.
    pub(crate) rank_group: HiddenGroupOf<A, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> FeedForward<EmbedDim, A, E, D> {
    /// `(.., EmbedDim) -> (.., EmbedDim)`, for tensors of 1 to 6 axes.
    pub fn forward<Dims: EndsIn<EmbedDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        const { ensure_one_group::<A>() };
        residual_norm(&self.norm, input, |x| {
            let activation = |x| <A::Conventions as Conventions>::Activation::apply(x);
            let mut hidden = activation(self.hidden.column_parallel(self.rank_group.enter(x)?)?)?; // (.., HiddenDim)
            for layer in &self.inner {
                hidden = activation(layer.column_parallel(self.rank_group.gather(hidden)?)?)?;
            }
            self.rank_group.dropout(self.output.row_parallel(hidden, &self.rank_group)?, A::FEED_FORWARD_DROPOUT)
        })
    }
}

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
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = layer.forward(x)?;
/// # Ok::<(), OpError>(())
/// ```
#[module(conventions = A::Conventions, output = EmbedDim)]
pub struct GatedFeedForward<EmbedDim: ConstDim, A: Arch, E, D> {
    /// From `EmbedDim` to `HiddenDim`, before the activation.
    pub gate: Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
    /// From `EmbedDim` to `HiddenDim`, without an activation.
    pub hidden: Projection<EmbedDim, A::HiddenDim, FeedForwardProjection<A>, E, D>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Projection<A::HiddenDim, EmbedDim, FeedForwardProjection<A>, E, D>,
    /// The group that divides the hidden columns.
    pub(crate) rank_group: HiddenGroupOf<A, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> GatedFeedForward<EmbedDim, A, E, D> {
    /// `(.., EmbedDim) -> (.., EmbedDim)`, for tensors of 1 to 6 axes.
    pub fn forward<Dims: EndsIn<EmbedDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        const { ensure_one_group::<A>() };
        residual_norm(&self.norm, input, |x| {
            let x = self.rank_group.enter(x)?;
            let gate = self.gate.column_parallel(x.clone())?; // (.., HiddenDim)
            let gate = <A::Conventions as Conventions>::Activation::apply(gate)?;
            let hidden = self.hidden.column_parallel(x)?; // (.., HiddenDim)
            let gated = elementwise("gated feed-forward", Arithmetic::Mul, gate, hidden)?;
            self.rank_group.dropout(self.output.row_parallel(gated, &self.rank_group)?, A::FEED_FORWARD_DROPOUT)
        })
    }
}
