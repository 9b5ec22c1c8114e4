use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, DataShape, Dim, EndsIn};
use crate::module;
use crate::nn::{Arch, Conventions, NormKind, NormPlacement, init};
use crate::ops::{OpError, Real, layer_norm, residual, rms_norm};
use dfdx::tensor::Tensor;

/// `(x - mean(x)) / √(var(x) + ε) · weight + bias` of the vector at each position, by
/// [`layer_norm`](crate::ops::layer_norm).
///
/// The blocks of *The Typed Transformer* have a [`Norm`](crate::nn::Norm) instead, which follows the conventions of an
/// [`Arch`](crate::nn::Arch).
///
/// ```
/// # use typed_transformer::{doctest::*, nn::LayerNorm, prelude::*};
/// let device = Cpu::default();
/// let norm = LayerNorm::<Const<2>, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, Const<2>), f32, Cpu> = device.tensor(vec![30.0, 70.0, 1.0, 3.0, 0.0, 2.0, 5.0, 9.0]);
/// assert_eq!(norm.forward(x, 1e-5)?.as_vec()[..2], [-1.0, 1.0]);
/// # Ok::<(), OpError>(())
/// ```
#[module(output = EmbedDim)]
pub struct LayerNorm<EmbedDim: ConstDim, E, D> {
    /// A factor for each column.
    #[param(init::ones)]
    pub weight: Tensor<(EmbedDim,), E, D>,
    /// A number that is added to each column.
    #[param(init::zeros)]
    pub bias: Tensor<(EmbedDim,), E, D>,
}

impl<EmbedDim: ConstDim, E: Real, D: Backend<E>> LayerNorm<EmbedDim, E, D> {
    /// `(.., EmbedDim) -> (.., EmbedDim)`, for tensors of 1 to 6 axes.
    pub fn forward<Dims: EndsIn<EmbedDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
        epsilon: f64,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        layer_norm(input, &self.weight, Some(&self.bias), epsilon)
    }
}

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
/// assert_eq!(norm.forward(x)?.as_vec()[..2], [-1.0, 1.0]);
/// # Ok::<(), OpError>(())
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
    pub fn forward<Dims: EndsIn<EmbedDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        match A::Conventions::NORM {
            NormKind::LayerNorm => layer_norm(input, &self.weight, self.bias.as_ref(), A::Conventions::NORM_EPSILON),
            NormKind::RmsNorm => rms_norm(input, &self.weight, A::Conventions::NORM_EPSILON),
        }
    }
}

const fn has_bias<C: Conventions>() -> bool {
    C::NORM_BIAS && matches!(C::NORM, NormKind::LayerNorm)
}

/// `norm(x)`, or `x` without a norm.
pub(crate) fn optional_norm<B: DataDim, S: Dim, M: ConstDim, A: Arch, E: Real, D: Backend<E>, T: Tape<E, D>>(
    norm: &Option<Norm<M, A, E, D>>,
    input: Tensor<(B, S, M), E, D, T>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    match norm {
        Some(norm) => norm.forward(input),
        None => Ok(input),
    }
}

/// `x + f(norm(x))` for pre-norm conventions, `norm(x + f(x))` for post-norm ones, and `x + f(x)` for a sublayer `f`
/// without a norm of its own.
pub(crate) fn residual_norm<Dims, M: ConstDim, A: Arch, E: Real, D: Backend<E>, T: Tape<E, D>>(
    norm: &Option<Norm<M, A, E, D>>,
    input: Tensor<Dims, E, D, T>,
    sublayer: impl FnOnce(Tensor<Dims, E, D, T>) -> Result<Tensor<Dims, E, D, T>, OpError>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: EndsIn<M, Before: DataShape>,
{
    let sublayer_input = input.clone();
    match (norm, A::Conventions::NORM_PLACEMENT) {
        (Some(norm), NormPlacement::Pre) => residual(input, sublayer(norm.forward(sublayer_input)?)?),
        (Some(norm), NormPlacement::Post | NormPlacement::PostShared) => {
            norm.forward(residual(input, sublayer(sublayer_input)?)?)
        }
        (None, _) => residual(input, sublayer(sublayer_input)?),
    }
}

/// The input of a sublayer: normalized for pre-norm conventions, otherwise unchanged.
pub(crate) fn sublayer_input<B: DataDim, S: Dim, M: ConstDim, A: Arch, E: Real, D: Backend<E>>(
    norm: &Option<Norm<M, A, E, D>>,
    input: Tensor<(B, S, M), E, D>,
) -> Result<Tensor<(B, S, M), E, D>, OpError> {
    match (norm, A::Conventions::NORM_PLACEMENT) {
        (Some(norm), NormPlacement::Pre) => norm.forward(input),
        _ => Ok(input),
    }
}
