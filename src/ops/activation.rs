use super::{ActivationKind, OpError, Real, cast, unnamed::try_map};
use dfdx::{
    shapes::Shape,
    tensor::{NoneTape, Tape, Tensor},
    tensor_ops::{Device, TryAdd, TryMul, TrySub},
};
use std::f64::consts::{PI, SQRT_2};

/// The activation of a feed-forward layer, chosen by type.
///
/// ```
/// use typed_transformer::{ops::{Activation, Relu}, prelude::*};
/// /// `max(0, x)²`, of Primer ([So et al., 2021](https://arxiv.org/abs/2109.08668)).
/// pub struct SquaredRelu;
/// impl Activation for SquaredRelu {
///     fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
///         input: Tensor<Dims, E, D, T>,
///     ) -> Result<Tensor<Dims, E, D, T>, OpError> {
///         Ok(Relu::try_apply(input)?.square())
///     }
/// }
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([-3.0, 3.0]);
/// assert_eq!(SquaredRelu::try_apply(x)?.array(), [0.0, 9.0]);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an activation",
    label = "`{Self}` does not implement `Activation`",
    note = "`Relu`, `GeluTanh`, `Gelu`, `Silu` and `Tanh` are activations; a type of your own is one when it implements `Activation`"
)]
pub trait Activation: 'static {
    /// The function, if the kernels support it.
    const KIND: Option<ActivationKind> = None;

    /// Applies the function to every element.
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
/// use typed_transformer::{ops::{Activation, GeluTanh}, prelude::*};
/// let x: Tensor<(Const<3>,), f64, Cpu> = Cpu::default().tensor([-10.0, 0.0, 10.0]);
/// let [low, zero, high] = GeluTanh::try_apply(x)?.array();
/// assert!(low.abs() < 1e-12 && zero == 0.0 && (high - 10.0).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GeluTanh;

/// The exact Gaussian error linear unit, `x · Φ(x) = x/2 · (1 + erf(x / √2))` ([Hendrycks and Gimpel,
/// 2016](https://arxiv.org/abs/1606.08415)); [`GeluTanh`] differs from it by at most 0.001.
///
/// ```
/// use typed_transformer::{ops::{Activation, Gelu}, prelude::*};
/// let x: Tensor<(Const<3>,), f64, Cpu> = Cpu::default().tensor([-1.0, 0.0, 1.0]);
/// let y = Gelu::try_apply(x)?.array();
/// // Φ(1) is 0.8413…
/// assert!((y[2] - 0.841_344_746).abs() < 1e-9 && (y[2] + y[0] - 0.682_689_492).abs() < 1e-9);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gelu;

/// The sigmoid linear unit or swish, `x · σ(x)` ([Elfwing et al., 2017](https://arxiv.org/abs/1702.03118)).
///
/// ```
/// use typed_transformer::{ops::{Activation, Silu}, prelude::*};
/// let x: Tensor<(Const<2>,), f64, Cpu> = Cpu::default().tensor([0.0, 3f64.ln()]);
/// // σ(ln 3) is 3/4.
/// assert!((Silu::try_apply(x)?.array()[1] - 0.75 * 3f64.ln()).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Silu;

/// The hyperbolic tangent, as in the pooler of BERT.
///
/// ```
/// use typed_transformer::{ops::{Activation, Tanh}, prelude::*};
/// let x: Tensor<(Const<2>,), f64, Cpu> = Cpu::default().tensor([0.0, 1.0]);
/// assert_eq!(Tanh::try_apply(x)?.array(), [0.0, 1f64.tanh()]);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tanh;

#[diagnostic::do_not_recommend]
impl Activation for Tanh {
    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        try_map("tanh", input, |x| x.try_tanh())
    }
}

#[diagnostic::do_not_recommend]
impl Activation for Silu {
    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        try_map("silu", input, |x| x.retaped::<T>().try_sigmoid()?.try_mul(x))
    }
}

#[diagnostic::do_not_recommend]
impl Activation for Relu {
    const KIND: Option<ActivationKind> = Some(ActivationKind::Relu);

    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        try_map("relu", input, |x| x.try_relu())
    }
}

#[diagnostic::do_not_recommend]
impl Activation for GeluTanh {
    const KIND: Option<ActivationKind> = Some(ActivationKind::GeluTanh);

    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        try_map("gelu", input, |x| x.try_fast_gelu())
    }
}

#[diagnostic::do_not_recommend]
impl Activation for Gelu {
    const KIND: Option<ActivationKind> = Some(ActivationKind::Gelu);

    fn try_apply<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        // The derivative is Φ(x) + x φ(x), where φ = Φ'. dfdx 0.13 has √2 x φ(x) in it. The term `zero` corrects this:
        // its value is 0, and its derivative is (1 - √2) x φ(x), because φ'(x) = -x φ(x).
        try_map("gelu", input, |x| {
            let correction: E = cast((SQRT_2 - 1.0) / (2.0 * PI).sqrt());
            let density = x.retaped::<T>().try_square()?.try_mul(cast::<E>(-0.5))?;
            let density = density.try_exp()?.try_mul(correction)?;
            let detached = density.retaped::<NoneTape>().try_mul(E::one())?;
            let zero = density.try_sub(detached)?;
            x.try_accurate_gelu()?.try_add(zero)
        })
    }
}
