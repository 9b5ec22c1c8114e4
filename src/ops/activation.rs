use super::{OpError, Real, failed, real};
use dfdx::{
    shapes::Shape,
    tensor::{NoneTape, Tape, Tensor},
    tensor_ops::{Device, TryAdd, TryMul, TrySub},
};
use std::f64::consts::{PI, SQRT_2};

/// The non-linearity of a feed-forward block, chosen by type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an activation",
    label = "`{Self}` says nothing of what becomes of an element",
    note = "`Relu`, `Gelu` and `GeluErf` are activations; a type of your own is one when it implements `Activation`"
)]
pub trait Activation: 'static {
    /// Which of the functions it is that kernels know, if it is one of them.
    const ELEMENTWISE: Option<ActivationKind> = None;

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

/// A function of each element by itself that kernels know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivationKind {
    /// [`Relu`].
    Relu,
    /// [`Gelu`].
    Gelu,
    /// [`GeluErf`].
    GeluErf,
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

/// The Gaussian error linear unit itself, `x · Φ(x) = x/2 · (1 + erf(x / √2))` ([Hendrycks and Gimpel,
/// 2016](https://arxiv.org/abs/1606.08415)); [`Gelu`] comes within 0.001 of it.
///
/// ```
/// use typed_transformer::{ops::{Activation, GeluErf}, prelude::*};
/// let x: Tensor<(Const<3>,), f64, Cpu> = Cpu::default().tensor([-1.0, 0.0, 1.0]);
/// let y = GeluErf::try_apply(x)?.array();
/// // Φ(1) is 0.8413…
/// assert!((y[2] - 0.841_344_746).abs() < 1e-9 && (y[2] + y[0] - 0.682_689_492).abs() < 1e-9);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GeluErf;

#[diagnostic::do_not_recommend]
impl Activation for Relu {
    const ELEMENTWISE: Option<ActivationKind> = Some(ActivationKind::Relu);

    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        input.try_relu().map_err(failed("relu"))
    }
}

#[diagnostic::do_not_recommend]
impl Activation for Gelu {
    const ELEMENTWISE: Option<ActivationKind> = Some(ActivationKind::Gelu);

    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        input.try_fast_gelu().map_err(failed("gelu"))
    }
}

#[diagnostic::do_not_recommend]
impl Activation for GeluErf {
    const ELEMENTWISE: Option<ActivationKind> = Some(ActivationKind::GeluErf);

    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        // With φ = Φ', dfdx 0.13 gives the slope Φ(x) + √2 x φ(x), where Φ(x) + x φ(x) is right. What is
        // added here is zero and has the slope (1 - √2) x φ(x), since φ'(x) = -x φ(x).
        let define = || {
            let surplus: E = real((SQRT_2 - 1.0) / (2.0 * PI).sqrt());
            let density = input.retaped::<T>().try_square()?.try_mul(real::<E>(-0.5))?;
            let density = density.try_exp()?.try_mul(surplus)?;
            let off_the_tape = density.retaped::<NoneTape>().try_mul(E::one())?;
            let zero = density.try_sub(off_the_tape)?;
            input.try_accurate_gelu()?.try_add(zero)
        };
        define().map_err(failed::<D::Err>("gelu"))
    }
}
