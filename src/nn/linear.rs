use super::{Arch, Conventions, init};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, EndsIn},
    module,
    ops::{OpError, Real, try_linear},
};
use dfdx::tensor::Tensor;
use std::marker::PhantomData;
use typed_transformer_macros::panicking;

/// `x Wᵀ + b`: a linear map of the vector at each position.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*};
/// dims! { pub EmbedDim = 8; pub HiddenDim = 5; pub SeqLen = 3; pub Batch = 2; }
/// let device = Cpu::default();
/// let hidden = Linear::<EmbedDim, HiddenDim, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let y: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> = hidden.forward(x);
/// ```
#[module(output = OutDim)]
pub struct Linear<InDim: ConstDim, OutDim: ConstDim, E, D> {
    /// `W`.
    #[param(init::uniform::<InDim, _, _, _>)]
    pub weight: Tensor<(OutDim, InDim), E, D>,
    /// `b`.
    #[param(init::uniform::<InDim, _, _, _>)]
    pub bias: Tensor<(OutDim,), E, D>,
}

impl<InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>> Linear<InDim, OutDim, E, D> {
    /// `(.., InDim) -> (.., OutDim)`, for tensors of 1 to 6 axes.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<Dims: EndsIn<InDim>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        try_linear(input, &self.weight, Some(&self.bias))
    }
}

/// Decides whether a [`Projection`] has a bias: [`AttentionProjection`] or [`FeedForwardProjection`].
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Projection, ProjectionRule}, prelude::*};
/// pub struct WithBias;
/// impl ProjectionRule for WithBias {
///     type Arch = Model;
///     const BIAS: bool = true;
/// }
/// let layer = Projection::<EmbedDim, HiddenDim, WithBias, f32, Cpu>::build(&Cpu::default());
/// assert!(layer.bias.is_some());
/// ```
pub trait ProjectionRule: 'static {
    /// The configuration whose conventions the projection follows.
    type Arch: Arch;
    /// Whether the projection has a bias.
    const BIAS: bool;
}

/// A projection of an attention layer, with a bias if [`Conventions::ATTENTION_BIAS`] of `A` is true.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{AttentionProjection, ProjectionRule}};
/// assert!(!AttentionProjection::<Model>::BIAS);
/// ```
pub struct AttentionProjection<A>(PhantomData<fn() -> A>);

/// A projection of a feed-forward layer, with a bias if [`Conventions::FEED_FORWARD_BIAS`] of `A` is true.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FeedForwardProjection, ProjectionRule}};
/// assert!(FeedForwardProjection::<Model>::BIAS);
/// ```
pub struct FeedForwardProjection<A>(PhantomData<fn() -> A>);

impl<A: Arch> ProjectionRule for AttentionProjection<A> {
    type Arch = A;
    const BIAS: bool = A::Conventions::ATTENTION_BIAS;
}
impl<A: Arch> ProjectionRule for FeedForwardProjection<A> {
    type Arch = A;
    const BIAS: bool = A::Conventions::FEED_FORWARD_BIAS;
}

/// `x Wᵀ + b`: a linear map inside a block. The conventions decide whether it has the bias.
///
/// ```
/// use typed_transformer::{models::another_annotated::Annotated, nn::{AttentionProjection, Module, Projection}, prelude::*};
/// dims! { pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 5; }
/// struct Biased;
/// impl Arch for Biased {
///     type NumHeads = NumHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Conventions = Annotated;
/// }
/// type QueryProj = Projection<EmbedDim, Product<NumHeads, HeadDim>, AttentionProjection<Biased>, f32, Cpu>;
/// const _: () = assert!(QueryProj::NUM_PARAMS == 8 * 35 + 35);
/// ```
#[module(output = OutDim)]
pub struct Projection<InDim: ConstDim, OutDim: ConstDim, Rule: ProjectionRule, E, D> {
    /// `W`.
    #[param(init::weight::<Rule::Arch, _, _, _, _>)]
    pub weight: Tensor<(OutDim, InDim), E, D>,
    /// `b`.
    #[some_if(Rule::BIAS)]
    #[param(init::uniform::<InDim, _, _, _>)]
    pub bias: Option<Tensor<(OutDim,), E, D>>,
}

impl<InDim: ConstDim, OutDim: ConstDim, Rule: ProjectionRule, E: Real, D: Backend<E>>
    Projection<InDim, OutDim, Rule, E, D>
{
    /// `(.., InDim) -> (.., OutDim)`, for tensors of 1 to 6 axes.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<Dims: EndsIn<InDim>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        try_linear(input, &self.weight, self.bias.as_ref())
    }
}
