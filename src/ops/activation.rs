use super::{OpError, Real, failed};
use dfdx::{
    shapes::Shape,
    tensor::{Tape, Tensor},
    tensor_ops::Device,
};

/// The non-linearity of a feed-forward block, chosen by type.
pub trait Activation: 'static {
    /// Applies the function to every element; any shape to the same shape.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{ops::{Activation, Relu}, prelude::*};
    /// let x: Tensor<(Const<3>,), f32, Cpu> = Cpu::default().tensor([-1.0, 0.0, 2.0]);
    /// assert_eq!(Relu::try_apply(x)?.array(), [0.0, 0.0, 2.0]);
    /// # Ok::<(), OpError>(())
    /// ```
    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError>;
}

/// `max(0, x)`.
///
/// ```
/// use typed_transformer::{ops::{Activation, Relu}, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([-3.0, 3.0]);
/// assert_eq!(Relu::try_apply(x)?.array(), [0.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Relu;

/// The Gaussian error linear unit by its tanh approximation,
/// `x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))` ([Hendrycks and Gimpel, 2016](https://arxiv.org/abs/1606.08415)).
///
/// ```
/// use typed_transformer::{ops::{Activation, Gelu}, prelude::*};
/// let x: Tensor<(Const<3>,), f64, Cpu> = Cpu::default().tensor([-10.0, 0.0, 10.0]);
/// let [low, zero, high] = Gelu::try_apply(x)?.array();
/// assert!(low.abs() < 1e-12 && zero == 0.0 && (high - 10.0).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gelu;

impl Activation for Relu {
    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        input.try_relu().map_err(failed("relu"))
    }
}

impl Activation for Gelu {
    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        input.try_fast_gelu().map_err(failed("gelu"))
    }
}
