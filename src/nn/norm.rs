use super::{Arch, Conventions, NormKind, NormPlacement, init};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, EndsIn, MaybeSharded},
    module,
    ops::{OpError, Real, try_layer_norm, try_residual, try_rms_norm},
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// `normalized(x) · weight + bias`: [`layer_norm`] or [`rms_norm`] of each vector, by the conventions of `A`.
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
#[module(conventions = A::Conventions, output = EmbedDim)]
pub struct Norm<EmbedDim: ConstDim, A: Arch, E, D> {
    /// A factor for each column.
    #[param(init::ones)]
    pub weight: Tensor<(EmbedDim,), E, D>,
    /// A number that is added to each column, if the conventions have biases.
    #[some_if(has_bias::<A::Conventions>())]
    #[param(init::zeros)]
    pub bias: Option<Tensor<(EmbedDim,), E, D>>,
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> Norm<EmbedDim, A, E, D> {
    /// `(.., EmbedDim) -> (.., EmbedDim)`, for tensors of 1 to 6 axes.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<Dims: EndsIn<EmbedDim>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        match A::Conventions::NORM {
            NormKind::LayerNorm => {
                try_layer_norm(input, &self.weight, self.bias.as_ref(), A::Conventions::NORM_EPSILON)
            }
            NormKind::RmsNorm => try_rms_norm(input, &self.weight, A::Conventions::NORM_EPSILON),
        }
    }
}

const fn has_bias<C: Conventions>() -> bool {
    C::NORM_BIAS && matches!(C::NORM, NormKind::LayerNorm)
}

/// `norm(x)`, or `x` without a norm.
pub(crate) fn try_optional_norm<
    B: MaybeSharded,
    S: Dim,
    M: ConstDim,
    A: Arch,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    norm: &Option<Norm<M, A, E, D>>,
    input: Tensor<(B, S, M), E, D, T>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    match norm {
        Some(norm) => norm.try_forward(input),
        None => Ok(input),
    }
}

/// `x + f(norm(x))` for pre-norm conventions, `norm(x + f(x))` for post-norm ones, and `x + f(x)` for a sublayer `f`
/// without a norm of its own.
pub(crate) fn try_residual_norm<Dims: EndsIn<M>, M: ConstDim, A: Arch, E: Real, D: Backend<E>, T: Tape<E, D>>(
    norm: &Option<Norm<M, A, E, D>>,
    input: Tensor<Dims, E, D, T>,
    sublayer: impl FnOnce(Tensor<Dims, E, D, T>) -> Result<Tensor<Dims, E, D, T>, OpError>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    let sublayer_input = input.clone();
    match (norm, A::Conventions::NORM_PLACEMENT) {
        (Some(norm), NormPlacement::Pre) => try_residual(input, sublayer(norm.try_forward(sublayer_input)?)?),
        (Some(norm), NormPlacement::Post | NormPlacement::PostShared) => {
            norm.try_forward(try_residual(input, sublayer(sublayer_input)?)?)
        }
        (None, _) => try_residual(input, sublayer(sublayer_input)?),
    }
}

/// The input of a sublayer: normalized for pre-norm conventions, otherwise unchanged.
pub(crate) fn try_sublayer_input<B: MaybeSharded, S: Dim, M: ConstDim, A: Arch, E: Real, D: Backend<E>>(
    norm: &Option<Norm<M, A, E, D>>,
    input: Tensor<(B, S, M), E, D>,
) -> Result<Tensor<(B, S, M), E, D>, OpError> {
    match (norm, A::Conventions::NORM_PLACEMENT) {
        (Some(norm), NormPlacement::Pre) => norm.try_forward(input),
        _ => Ok(input),
    }
}
