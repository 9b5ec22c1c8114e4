use super::{Arch, Conventions, NormKind, NormPlacement, init};
use crate::{
    backend::{Around, Backend, Normalize},
    dims::{ConstDim, Dim},
    module,
    ops::{OpError, Real},
};
use dfdx::tensor::{Tape, Tensor};
use typed_transformer_macros::panicking;

module! {
    /// Each vector normalized, times a weight for each column, plus a bias: [`layer_norm`] or
    /// [`rms_norm`], by the style of `A`.
    ///
    /// [`layer_norm`]: crate::ops::layer_norm
    /// [`rms_norm`]: crate::ops::rms_norm
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, nn::Norm, prelude::*};
    /// let device = Cpu::default();
    /// let norm = Norm::<Const<2>, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SeqLen, Const<2>), f32, Cpu> = device.tensor(vec![30.0, 70.0, 1.0, 3.0, 0.0, 2.0, 5.0, 9.0]);
    /// assert_eq!(norm.forward(x).as_vec()[..2], [-1.0, 1.0]);
    /// ```
    pub struct Norm<EmbedDim: ConstDim, A: Arch; E, D> in A::Conventions -> EmbedDim {
        /// What each normalized column is multiplied by.
        pub weight: param (EmbedDim,) = init::ones,
        /// What is added to each column then, where the style has it.
        pub bias: optional(has_bias::<A::Conventions>()) param (EmbedDim,) = init::zeros,
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> Norm<EmbedDim, A, E, D> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.normalize().try_apply(input)
    }

    fn normalize(&self) -> Normalize<'_, EmbedDim, E, D> {
        Normalize {
            kind: A::Conventions::NORM,
            weight: &self.weight,
            bias: self.bias.as_ref(),
            epsilon: A::Conventions::NORM_EPSILON,
        }
    }
}

const fn has_bias<S: Conventions>() -> bool {
    S::NORM_BIAS && matches!(S::NORM, NormKind::LayerNorm)
}

/// Normalizes where there is a norm.
pub(crate) fn try_norm<B: Dim, S: Dim, EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>, T: Tape<E, D>>(
    norm: &Option<Norm<EmbedDim, A, E, D>>,
    input: Tensor<(B, S, EmbedDim), E, D, T>,
) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
    match norm {
        Some(norm) => norm.try_forward(input),
        None => Ok(input),
    }
}

/// What stands around a sublayer whose own norm this is.
pub(crate) fn around<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>>(
    norm: &Option<Norm<EmbedDim, A, E, D>>,
) -> Around<'_, EmbedDim, E, D> {
    match (norm, A::Conventions::NORM_PLACEMENT) {
        (Some(norm), NormPlacement::Pre) => Around::Before(norm.normalize()),
        (Some(norm), NormPlacement::Post | NormPlacement::PostShared) => Around::After(norm.normalize()),
        (None, _) => Around::Nothing,
    }
}

/// What a sublayer whose own norm this is reads of its input.
pub(crate) fn try_read<B: Dim, S: Dim, EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>>(
    norm: &Option<Norm<EmbedDim, A, E, D>>,
    input: Tensor<(B, S, EmbedDim), E, D>,
) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError> {
    match around(norm) {
        Around::Before(norm) => norm.try_apply(input),
        Around::After(_) | Around::Nothing => Ok(input),
    }
}
