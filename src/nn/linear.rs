use super::{Arch, Conventions, init};
use crate::{
    backend::{Affine, Backend},
    dims::{ConstDim, Dim},
    module,
    ops::{OpError, Real},
};
use dfdx::tensor::{Tape, Tensor};
use std::marker::PhantomData;
use typed_transformer_macros::panicking;

module! {
    /// `x Wᵀ + b`: a linear map of every position.
    ///
    /// ```
    /// use typed_transformer::{nn::Linear, prelude::*};
    /// dims! { pub EmbedDim = 8; pub HiddenDim = 5; pub SeqLen = 3; pub Batch = 2; }
    /// let device = Cpu::default();
    /// let hidden = Linear::<EmbedDim, HiddenDim, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
    /// let y: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> = hidden.forward(x);
    /// ```
    pub struct Linear<InDim: ConstDim, OutDim: ConstDim; E, D> -> OutDim {
        /// `W`.
        pub weight: param (OutDim, InDim) = init::uniform::<InDim, _, _, _>,
        /// `b`.
        pub bias: param (OutDim,) = init::uniform::<InDim, _, _, _>,
    }
}

impl<InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>> Linear<InDim, OutDim, E, D> {
    /// `(B, S, InDim) -> (B, S, OutDim)`
    ///
    /// # Errors
    /// Those of [`try_linear`](crate::ops::try_linear).
    #[panicking]
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        D::try_linear(input, &self.weight, Some(&self.bias))
    }
}

/// Where in a block a [`Projection`] is: [`AttentionProjection`] or [`FeedForwardProjection`].
pub trait BiasRule: 'static {
    /// Whose style the projection follows.
    type Arch: Arch;
    /// Whether it has a bias.
    const BIAS: bool;
}

/// In the attentions of `A`.
pub struct AttentionProjection<A>(PhantomData<fn() -> A>);

/// In the feed-forward blocks of `A`.
pub struct FeedForwardProjection<A>(PhantomData<fn() -> A>);

impl<A: Arch> BiasRule for AttentionProjection<A> {
    type Arch = A;
    const BIAS: bool = A::Conventions::ATTENTION_BIAS;
}
impl<A: Arch> BiasRule for FeedForwardProjection<A> {
    type Arch = A;
    const BIAS: bool = A::Conventions::FEED_FORWARD_BIAS;
}

module! {
    /// A linear map inside a block: `x Wᵀ`, plus a bias where the style has one for this `P`.
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
    pub struct Projection<InDim: ConstDim, OutDim: ConstDim, P: BiasRule; E, D> -> OutDim {
        /// `W`.
        pub weight: param (OutDim, InDim) = init::weight::<P::Arch, _, _, _, _>,
        /// `b`.
        pub bias: optional(P::BIAS) param (OutDim,)
            = init::uniform::<InDim, _, _, _>,
    }
}

impl<InDim: ConstDim, OutDim: ConstDim, P: BiasRule, E: Real, D: Backend<E>>
    Projection<InDim, OutDim, P, E, D>
{
    /// `(B, S, InDim) -> (B, S, OutDim)`
    ///
    /// # Errors
    /// Those of [`try_linear`](crate::ops::try_linear).
    #[panicking]
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        D::try_linear(input, &self.weight, self.bias.as_ref())
    }

    pub(crate) fn affine(&self) -> Affine<'_, InDim, OutDim, E, D> {
        Affine { weight: &self.weight, bias: self.bias.as_ref() }
    }
}
