use super::init;
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, EndsIn},
    module,
    ops::{OpError, Real, try_layer_norm},
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// `(x - mean(x)) / √(var(x) + ε) · weight + bias` of the vector at each position, by
/// [`layer_norm`](crate::ops::layer_norm).
///
/// The blocks of *The Typed Transformer* have a [`Norm`](super::Norm) instead, which follows the conventions of an
/// [`Arch`](super::Arch).
///
/// ```
/// # use typed_transformer::{doctest::*, nn::LayerNorm, prelude::*};
/// let device = Cpu::default();
/// let norm = LayerNorm::<Const<2>, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, Const<2>), f32, Cpu> = device.tensor(vec![30.0, 70.0, 1.0, 3.0, 0.0, 2.0, 5.0, 9.0]);
/// assert_eq!(norm.forward(x, 1e-5).as_vec()[..2], [-1.0, 1.0]);
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
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<Dims: EndsIn<EmbedDim>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
        epsilon: f64,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        try_layer_norm(input, &self.weight, Some(&self.bias), epsilon)
    }
}
