use super::{Arch, NormKind, NormPlacement, Style, init};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    module,
    ops::{OpError, Real, or_panic},
};
use dfdx::tensor::{Tape, Tensor, WithEmptyTape};

module! {
    /// Each vector normalized, times a weight for each column, plus a bias: [`layer_norm`] or
    /// [`rms_norm`], by the style of `A`.
    ///
    /// [`layer_norm`]: crate::ops::layer_norm
    /// [`rms_norm`]: crate::ops::rms_norm
    ///
    /// ```
    /// # use typed_transformer::{nn::Norm, prelude::*};
    /// # dims! { pub EmbedDim = 2; pub NumHeads = 2; pub HeadDim = 4; pub HiddenDim = 5; pub SeqLen = 1; pub Batch = 1; }
    /// # struct Model;
    /// # impl Arch for Model {
    /// #     type NumHeads = NumHeads;
    /// #     type QKDim = HeadDim;
    /// #     type VODim = HeadDim;
    /// #     type HiddenDim = HiddenDim;
    /// #     type Style = TypedTransformer;
    /// # }
    /// let device = Cpu::default();
    /// let norm = Norm::<EmbedDim, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![30.0, 70.0]);
    /// assert_eq!(norm.forward(x).as_vec(), [-1.0, 1.0]);
    /// ```
    pub struct Norm<EmbedDim: ConstDim, A: Arch; E, D> in A::Style -> EmbedDim {
        /// What each normalized column is multiplied by.
        pub weight: param (EmbedDim,) = init::ones,
        /// What is added to each column then, where the style has it.
        pub bias: optional(has_bias::<A::Style>()) param (EmbedDim,) = init::zeros,
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> Norm<EmbedDim, A, E, D> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    ///
    /// # Panics
    /// If the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    #[must_use]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Tensor<(B, S, EmbedDim), E, D, T> {
        or_panic(self.try_forward(input))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let (weight, epsilon) = (&self.weight, A::Style::NORM_EPSILON);
        match A::Style::NORM {
            NormKind::LayerNorm => D::try_layer_norm(input, weight, self.bias.as_ref(), epsilon),
            NormKind::RmsNorm => D::try_rms_norm(input, weight, epsilon),
        }
    }
}

const fn has_bias<S: Style>() -> bool {
    S::NORM_BIAS && matches!(S::NORM, NormKind::LayerNorm)
}

/// Normalizes where there is a norm.
pub(crate) fn try_norm<
    B: Dim,
    S: Dim,
    EmbedDim: ConstDim,
    A: Arch,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    norm: &Option<Norm<EmbedDim, A, E, D>>,
    input: Tensor<(B, S, EmbedDim), E, D, T>,
) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
    match norm {
        Some(norm) => norm.try_forward(input),
        None => Ok(input),
    }
}

/// `x + f(x)`, normalized where the style of `A` says.
pub(crate) fn try_sublayer<
    B: Dim,
    S: Dim,
    EmbedDim: ConstDim,
    A: Arch,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    norm: &Option<Norm<EmbedDim, A, E, D>>,
    input: Tensor<(B, S, EmbedDim), E, D, T>,
    sublayer: impl FnOnce(
        Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError>,
) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
    let copy = input.with_empty_tape();
    match A::Style::NORM_PLACEMENT {
        NormPlacement::Pre => D::try_residual(input, sublayer(try_norm(norm, copy)?)?),
        NormPlacement::Post | NormPlacement::PostShared => {
            try_norm(norm, D::try_residual(input, sublayer(copy)?)?)
        }
    }
}
