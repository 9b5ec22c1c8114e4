use super::{OpError, Real, cast, unnamed::map};
use crate::backend::{ActivationKind, Backend, Tape, activation_kernel, run_kernel};
use crate::dims::UnnamedTensor;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{NoneTape, Tensor};
use dfdx::tensor_ops::{ChooseFrom, TryAdd, TryDiv, TryEq, TryGe, TryMul, TrySub};
use std::f64::consts::{PI, SQRT_2};

/// The activation of a feed-forward layer, chosen by type.
///
/// ```
/// use typed_transformer::{ops::{Activation, Relu}, prelude::*};
/// /// `max(0, x)²`, of Primer ([So et al., 2021](https://arxiv.org/abs/2109.08668)).
/// pub struct SquaredRelu;
/// impl Activation for SquaredRelu {
///     fn apply<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
///         input: Tensor<Dims, E, D, T>,
///     ) -> Result<Tensor<Dims, E, D, T>, OpError> {
///         let positive = Relu::apply(input)?;
///         positive.try_square().map_err(|error| OpError::Device { op: "squared ReLU", message: error.to_string() })
///     }
/// }
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([-3.0, 3.0]);
/// assert_eq!(SquaredRelu::apply(x)?.array(), [0.0, 9.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// The square is dfdx's, which has no kernel. Where the shape is named, [`mul(x.clone(), x)`](super::mul) has one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an activation",
    label = "`{Self}` does not implement `Activation`",
    note = "`Relu`, `GeluTanh`, `Gelu`, `Silu`, `Tanh`, `Sigmoid`, `Softplus`, `Exp`, `Sqrt`, `Ln` and `Abs` are activations; a type of your own is one when it implements `Activation`"
)]
pub trait Activation: 'static {
    /// Applies the function to every element.
    ///
    /// ```
    /// use typed_transformer::{
    ///     ops::{Abs, Activation, Exp, Gelu, GeluTanh, Ln, Relu, Sigmoid, Silu, Softplus, Sqrt, Tanh},
    ///     prelude::*,
    /// };
    /// fn of<A: Activation>(x: f64) -> f64 {
    ///     let x: Tensor<(Const<1>,), f64, Cpu> = Cpu::default().tensor([x]);
    ///     A::apply(x).unwrap().array()[0]
    /// }
    /// assert_eq!([of::<Relu>(-3.0), of::<Relu>(3.0), of::<Sigmoid>(0.0), of::<Tanh>(1.0)], [0.0, 3.0, 0.5, 1f64.tanh()]);
    /// assert_eq!([of::<Softplus>(0.0), of::<Softplus>(100.0), of::<Exp>(1.0)], [2f64.ln(), 100.0, 1f64.exp()]);
    /// assert_eq!([of::<Sqrt>(9.0), of::<Ln>(2.0), of::<Abs>(-3.0)], [3.0, 2f64.ln(), 3.0]);
    /// assert!((of::<Gelu>(1.0) - 0.841_344_746).abs() < 1e-9); // Φ(1) is 0.8413…
    /// assert!((of::<GeluTanh>(1.0) - of::<Gelu>(1.0)).abs() < 1e-3 && (of::<GeluTanh>(10.0) - 10.0).abs() < 1e-12);
    /// assert!((of::<Silu>(3f64.ln()) - 0.75 * 3f64.ln()).abs() < 1e-12); // σ(ln 3) is 3/4
    /// ```
    fn apply<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError>;
}

/// `max(0, x)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relu;

/// The Gaussian error linear unit by its tanh approximation,
/// `x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))` ([Hendrycks and Gimpel, 2016](https://arxiv.org/abs/1606.08415)).
#[derive(Clone, Copy, Debug, Default)]
pub struct GeluTanh;

/// The exact Gaussian error linear unit, `x · Φ(x) = x/2 · (1 + erf(x / √2))` ([Hendrycks and Gimpel,
/// 2016](https://arxiv.org/abs/1606.08415)); [`GeluTanh`] differs from it by at most 0.001.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gelu;

/// The sigmoid linear unit or swish, `x · σ(x)` ([Elfwing et al., 2017](https://arxiv.org/abs/1702.03118)).
#[derive(Clone, Copy, Debug, Default)]
pub struct Silu;

/// The hyperbolic tangent, as in the pooler of BERT.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tanh;

/// The logistic function, `σ(x) = 1 / (1 + e⁻ˣ)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sigmoid;

/// The smooth form of [`Relu`], `ln(1 + eˣ)` ([Dugas et al.,
/// 2000](https://papers.nips.cc/paper/1920-incorporating-second-order-functional-knowledge-for-better-option-pricing)).
#[derive(Clone, Copy, Debug, Default)]
pub struct Softplus;

/// The exponential function, `eˣ`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exp;

/// The square root, `√x`; NaN below 0. Its derivative at 0 is infinite.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sqrt;

/// The natural logarithm, `ln x`; NaN below 0. Its derivative at 0 is infinite.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ln;

/// The absolute value, `|x|`. Its derivative at 0 is 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abs;

/// The kernel of an activation, or its definition.
fn apply<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    kind: ActivationKind,
    input: Tensor<Dims, E, D, T>,
    definition: impl FnOnce(UnnamedTensor<Dims, E, D, T>) -> Result<UnnamedTensor<Dims, E, D, T>, D::Err>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    if D::HAS_KERNELS {
        let shape = *input.shape();
        return run_kernel(op, shape, |tape| activation_kernel(D::read(input, tape)?, kind));
    }
    if input.shape().num_elements() == 0 {
        // dfdx compares and chooses at least one element.
        return Ok(input);
    }
    map(op, input, definition)
}

/// Implements an activation by its kernel, which has the name of the type, and its definition.
macro_rules! activation {
    ($name:ident, $op:literal, |$x:ident| $definition:expr) => {
        #[diagnostic::do_not_recommend]
        impl Activation for $name {
            fn apply<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
                input: Tensor<Dims, E, D, T>,
            ) -> Result<Tensor<Dims, E, D, T>, OpError> {
                apply($op, ActivationKind::$name, input, |$x| $definition)
            }
        }
    };
}

// dfdx's ReLU of NaN is 0.
activation!(Relu, "relu", |x| x.try_eq(&x)?.try_choose(x.clone().try_relu()?, x));
activation!(Sigmoid, "sigmoid", |x| x.try_sigmoid());
activation!(Tanh, "tanh", |x| x.try_tanh());
activation!(Exp, "exp", |x| x.try_exp());
activation!(Sqrt, "sqrt", |x| x.try_sqrt());
activation!(Ln, "ln", |x| x.try_ln());
activation!(Abs, "abs", |x| x.try_abs());
activation!(Silu, "silu", |x| x.clone().try_sigmoid()?.try_mul(x));
activation!(GeluTanh, "gelu", |x| {
    // The derivative of dfdx squares its argument, which is infinite in 16 bits from 256 on. Beyond 12, GELU is ReLU.
    let can_square = E::max_value().to_f32() > Some(1e6);
    if can_square {
        return x.try_fast_gelu();
    }
    let is_far = x.retaped::<NoneTape>().try_abs()?.try_ge(cast::<E>(12.0))?;
    let zeros = x.device().try_zeros_like(x.shape())?.retaped::<T>();
    let near = is_far.clone().try_choose(zeros, x.clone())?;
    is_far.try_choose(x.try_relu()?, near.try_fast_gelu()?)
});

// The derivative is Φ(x) + x φ(x), where φ = Φ'. dfdx 0.13 has √2 x φ(x) in it. The term `zero` corrects this: its
// value is 0, and its derivative is (1 - √2) x φ(x), because φ'(x) = -x φ(x).
activation!(Gelu, "gelu", |x| {
    let correction: E = cast((SQRT_2 - 1.0) / (2.0 * PI).sqrt());
    let density = x.clone().try_square()?.try_mul(cast::<E>(-0.5))?;
    let density = density.try_exp()?.try_mul(correction)?;
    let detached = density.retaped::<NoneTape>().try_mul(E::one())?;
    let zero = density.try_sub(detached)?;
    x.try_accurate_gelu()?.try_add(zero)
});

// `max(x, 0) + ln(1 + t)` with `t = e⁻|ˣ|`, in which nothing overflows. At 0 the derivative of dfdx's `|x|` is 0, and
// that of its maximum is ½, as softplus needs. Its ReLU has 0 there.
activation!(Softplus, "softplus", |x| {
    let t = x.clone().try_abs()?.try_negate()?.try_exp()?;
    let sum = t.clone().try_add(E::one())?;
    // `1 + t` is rounded: to 1 if `t` is small. The logarithm then lacks what the sum lacks, divided by the sum.
    let added = sum.retaped::<NoneTape>().try_sub(E::one())?;
    let lost = t.retaped::<NoneTape>().try_sub(added)?.try_div(sum.retaped::<NoneTape>())?;
    let small = sum.try_ln()?.try_add(lost)?;
    let zeros = x.device().try_zeros_like(x.shape())?;
    x.try_maximum(zeros)?.try_add(small)
});
