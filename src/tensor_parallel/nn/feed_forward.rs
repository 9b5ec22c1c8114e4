use super::{ColumnProjection, DividesLayersOf, RowProjection};
use crate::backend::{Backend, Tape};
use crate::dims::{AxisOf, ConstDim, Dim, MaybeSharded, axis};
use crate::module;
use crate::nn::{Arch, Conventions, FeedForwardProjection, Norm, residual_norm};
use crate::ops::{Activation, OpError, dropout};
use crate::ranks::{Element, Ranks, Shard};
use crate::tensor_parallel::dropout::same_dropout;
use crate::tensor_parallel::{all_gather_entered, enter};
use dfdx::tensor::Tensor;

/// [`FeedForward`](crate::nn::FeedForward), of which each rank has its part of the hidden columns.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::ShardedFeedForward};
/// ranks! { pub Tp = 1; }
/// let ranks = Ranks::<Tp>::single()?;
/// let layer = ShardedFeedForward::<EmbedDim, Model, Tp, f32, Cpu>::build(&Cpu::default());
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = layer.forward(x, &ranks)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = A::Conventions, output = EmbedDim)]
pub struct ShardedFeedForward<EmbedDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// From `EmbedDim` to this rank's part of `HiddenDim`.
    pub hidden: ColumnProjection<EmbedDim, Shard<A::HiddenDim, Axis>, FeedForwardProjection<A>, E, D>,
    /// More layers of the hidden width; each reads all hidden columns.
    #[layers(A::FEED_FORWARD_EXTRA_LAYERS)]
    pub inner: Vec<ColumnProjection<A::HiddenDim, Shard<A::HiddenDim, Axis>, FeedForwardProjection<A>, E, D>>,
    /// From this rank's part of `HiddenDim` back to `EmbedDim`.
    pub output: RowProjection<Shard<A::HiddenDim, Axis>, EmbedDim, FeedForwardProjection<A>, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    ShardedFeedForward<EmbedDim, A, Axis, E, D>
{
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    pub fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let hidden_dim: AxisOf<A::HiddenDim> = axis();
        residual_norm(&self.norm, input, |x| {
            let activation = |x| <A::Conventions as Conventions>::Activation::apply(x);
            // (B, S, this rank's part of HiddenDim)
            let mut hidden = activation(self.hidden.forward(enter(x, ranks)?)?)?;
            for layer in &self.inner {
                hidden = activation(layer.forward(all_gather_entered(hidden, hidden_dim, ranks)?)?)?;
            }
            let output = self.output.forward(hidden, ranks)?;
            let _seed = same_dropout::<E, D, T, _>(A::FEED_FORWARD_DROPOUT, output.device(), ranks)?;
            dropout(output, A::FEED_FORWARD_DROPOUT)
        })
    }
}
