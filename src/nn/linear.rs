use super::{Arch, Style, init};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    module,
    ops::{OpError, Real, or_panic},
};
use dfdx::tensor::{Tape, Tensor};

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
    /// # Panics
    /// If the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    #[must_use]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
    ) -> Tensor<(B, S, OutDim), E, D, T> {
        or_panic(self.try_forward(input))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// Those of [`try_linear`](crate::ops::try_linear).
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        D::try_linear(input, &self.weight, Some(&self.bias))
    }
}

module! {
    /// One of the four linear maps of an attention: `x Wᵀ`, plus a bias where the style of `A` has
    /// one.
    ///
    /// ```
    /// use typed_transformer::{models::another_annotated::Annotated, nn::{Module, Projection}, prelude::*};
    /// dims! { pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 5; }
    /// struct Biased;
    /// impl Arch for Biased {
    ///     type NumHeads = NumHeads;
    ///     type QKDim = HeadDim;
    ///     type VODim = HeadDim;
    ///     type HiddenDim = HiddenDim;
    ///     type Style = Annotated;
    /// }
    /// type QueryProj = Projection<EmbedDim, Product<NumHeads, HeadDim>, Biased, f32, Cpu>;
    /// const _: () = assert!(QueryProj::NUM_PARAMS == 8 * 35 + 35);
    /// ```
    pub struct Projection<InDim: ConstDim, OutDim: ConstDim, A: Arch; E, D> -> OutDim {
        /// `W`.
        pub weight: param (OutDim, InDim) = init::uniform::<InDim, _, _, _>,
        /// `b`.
        pub bias: optional(<A::Style as Style>::ATTENTION_BIAS) param (OutDim,)
            = init::uniform::<InDim, _, _, _>,
    }
}

impl<InDim: ConstDim, OutDim: ConstDim, A: Arch, E: Real, D: Backend<E>>
    Projection<InDim, OutDim, A, E, D>
{
    /// `(B, S, InDim) -> (B, S, OutDim)`
    ///
    /// # Panics
    /// If the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    #[must_use]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
    ) -> Tensor<(B, S, OutDim), E, D, T> {
        or_panic(self.try_forward(input))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// Those of [`try_linear`](crate::ops::try_linear).
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        D::try_linear(input, &self.weight, self.bias.as_ref())
    }
}
