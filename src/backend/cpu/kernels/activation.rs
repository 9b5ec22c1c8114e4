use crate::autograd::{KernelOutput, Operand, partition_elements, with_backward};
use crate::kernel_options::ActivationKind;
use crate::simd::{self, erf, exp, ln_1p, vectorized};
use dfdx::tensor::CpuError;
use std::f32::consts::FRAC_1_SQRT_2;

/// The cost of a function, in multiply-adds.
const MACS_PER_FUNCTION: usize = 32;
const SQRT_2_OVER_PI: f32 = 0.797_884_6;
/// The coefficient of `x³` in the tanh form of GELU.
const GELU_CUBIC: f32 = 0.044_715;
const INV_SQRT_2PI: f32 = 0.398_942_3;

/// Calls `$loop` with the function of an activation, which returns value and derivative. This is a macro because a
/// function passed as a value would not be inlined into the loop that is compiled for wide registers.
macro_rules! with_function {
    ($activation:expr, $loop:ident ! ($($argument:ident),*)) => {
        match $activation {
            ActivationKind::Relu => $loop!(relu, $($argument),*),
            ActivationKind::GeluTanh => $loop!(gelu_tanh, $($argument),*),
            ActivationKind::Gelu => $loop!(gelu, $($argument),*),
            ActivationKind::Silu => $loop!(silu, $($argument),*),
            ActivationKind::Tanh => $loop!(tanh, $($argument),*),
            ActivationKind::Sigmoid => $loop!(sigmoid, $($argument),*),
            ActivationKind::Softplus => $loop!(softplus, $($argument),*),
            ActivationKind::Exp => $loop!(exponential, $($argument),*),
            ActivationKind::Sqrt => $loop!(sqrt, $($argument),*),
            ActivationKind::Ln => $loop!(ln, $($argument),*),
            ActivationKind::Abs => $loop!(abs, $($argument),*),
        }
    };
}

/// `y = f(x)`; the unused derivative is optimized away.
macro_rules! write_values {
    ($f:ident, $y:ident, $x:ident) => {
        vectorized!({
            for (y, x) in $y.iter_mut().zip($x) {
                *y = $f(*x).0;
            }
        })
    };
}

/// `dx`, which holds `dy`, becomes `f'(x) dy`, and 0 where `f'(x)` is 0, even if `dy` is infinite.
macro_rules! write_gradients {
    ($f:ident, $dx:ident, $x:ident) => {
        vectorized!({
            for (dx, x) in $dx.iter_mut().zip($x) {
                let derivative = $f(*x).1;
                *dx = if derivative == 0.0 { 0.0 } else { *dx * derivative };
            }
        })
    };
}

/// `(N,) -> (N,)`: `y = f(x)`. Backward computes the derivative again from `x`.
pub fn activation_kernel(input: Operand, activation: ActivationKind) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(input.len(), MACS_PER_FUNCTION);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, 1, |elements, y| {
        let x = elements.slice(input.elements(), 1);
        with_function!(activation, write_values!(y, x));
    });
    let output = input.new_tensor(y)?;

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = dy;
        partition.map_mut(&mut dx, 1, |elements, dx| {
            let x = elements.slice(input.elements(), 1);
            with_function!(activation, write_gradients!(dx, x));
        });
        input.gradient.add(gradients, dx);
    }))
}

#[inline(always)]
fn relu(x: f32) -> (f32, f32) {
    // Not `x.max(0.0)`, which is 0 for NaN.
    let y = if x < 0.0 { 0.0 } else { x };
    (y, if x <= 0.0 { 0.0 } else { 1.0 })
}

/// The tanh form: with `u = √(2/π) (x + 0.044715 x³)`, `(1 + tanh u) / 2` is the logistic function of `2u`.
#[inline(always)]
fn gelu_tanh(x: f32) -> (f32, f32) {
    // Beyond 12 the logistic function is 0 or 1 to the last bit. Clamping keeps its argument finite.
    let clamped = x.clamp(-12.0, 12.0);
    let square = clamped * clamped;
    let twice_u = 2.0 * SQRT_2_OVER_PI * clamped * (1.0 + GELU_CUBIC * square);
    let cdf = 1.0 / (1.0 + exp(-twice_u));
    let d_twice_u = 2.0 * SQRT_2_OVER_PI * (1.0 + 3.0 * GELU_CUBIC * square);
    let derivative = cdf + clamped * cdf * (1.0 - cdf) * d_twice_u;
    (x * cdf, derivative)
}

/// `x Φ(x)`, whose derivative is `Φ(x) + x φ(x)`.
#[inline(always)]
fn gelu(x: f32) -> (f32, f32) {
    let cdf = 0.5 + 0.5 * erf(x * FRAC_1_SQRT_2);
    let clamped = x.clamp(-20.0, 20.0);
    let density = exp(-0.5 * clamped * clamped) * INV_SQRT_2PI;
    (x * cdf, cdf + clamped * density)
}

/// `1 / (1 + e⁻ˣ)`, whose derivative is `σ(x) (1 - σ(x))`.
#[inline(always)]
fn sigmoid(x: f32) -> (f32, f32) {
    let y = 1.0 / (1.0 + exp(-x));
    (y, y * (1.0 - y))
}

/// `x σ(x)`, whose derivative is `σ(x) (1 + x (1 - σ(x)))`.
#[inline(always)]
fn silu(x: f32) -> (f32, f32) {
    let (factor, _) = sigmoid(x);
    // Beyond 88 one of the factors is 0. Clamping keeps the product with it finite.
    (x * factor, factor * (1.0 + x.clamp(-88.0, 88.0) * (1.0 - factor)))
}

/// `tanh x`, whose derivative is `1 - tanh² x`.
#[inline(always)]
fn tanh(x: f32) -> (f32, f32) {
    // Near 0 by the polynomial of Cephes' `tanhf`, elsewhere by the exponential function.
    let square = x * x;
    let mut polynomial = -5.704_988_7e-3;
    for coefficient in [2.063_909e-2, -5.373_971_6e-2, 0.133_314_42, -0.333_332_8] {
        polynomial = polynomial * square + coefficient;
    }
    let near = x + x * square * polynomial;
    let far = 1.0 - 2.0 / (exp(2.0 * x.abs()) + 1.0);
    let y = if x.abs() < 0.625 { near } else { far.copysign(x) };
    (y, 1.0 - y * y)
}

/// `ln(1 + eˣ)`, whose derivative is `σ(x)`.
#[inline(always)]
fn softplus(x: f32) -> (f32, f32) {
    // `max(x, 0) + ln(1 + e⁻|ˣ|)`. `positive` is 0 for NaN, but the logarithm is NaN.
    let positive = if x > 0.0 { x } else { 0.0 };
    (positive + ln_1p(exp(-x.abs())), sigmoid(x).0)
}

/// `eˣ`, whose derivative is `eˣ`.
#[inline(always)]
fn exponential(x: f32) -> (f32, f32) {
    let y = exp(x);
    (y, y)
}

/// `√x`, whose derivative is `1 / (2 √x)`.
#[inline(always)]
fn sqrt(x: f32) -> (f32, f32) {
    let y = x.sqrt();
    (y, 0.5 / y)
}

/// `ln x`, whose derivative is `1 / x`.
#[inline(always)]
fn ln(x: f32) -> (f32, f32) {
    (simd::ln(x), 1.0 / x)
}

/// `|x|`, whose derivative is the sign of `x`; 0 at 0.
#[inline(always)]
fn abs(x: f32) -> (f32, f32) {
    (x.abs(), if x == 0.0 { 0.0 } else { x.signum() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From large negative to large positive, denser around 0.
    fn arguments() -> Vec<f32> {
        let dense = (-400_000..400_000).map(|step| step as f32 * 5e-5);
        let wide = (-90..90).map(|power| 2f32.powi(power));
        dense.chain(wide.clone()).chain(wide.map(|x| -x)).collect()
    }

    /// The function and its derivative, as the kernel computes them.
    fn run(activation: ActivationKind, x: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (mut y, mut derivatives) = (vec![0.0; x.len()], vec![1.0; x.len()]);
        let (values, gradients) = (&mut y, &mut derivatives);
        with_function!(activation, write_values!(values, x));
        with_function!(activation, write_gradients!(gradients, x));
        (y, derivatives)
    }

    fn assert_near(activation: ActivationKind, exact: impl Fn(f64) -> (f64, f64)) {
        let x = arguments();
        let (y, derivatives) = run(activation, &x);
        for ((&x, y), derivative) in x.iter().zip(y).zip(derivatives) {
            let (exact_y, exact_derivative) = exact(f64::from(x));
            let bound = 1e-6 * f64::from(x).abs().max(1.0);
            assert!((f64::from(y) - exact_y).abs() <= bound, "f({x}) = {y}");
            let is_near = (f64::from(derivative) - exact_derivative).abs() <= 2e-6;
            assert!(is_near, "f'({x}) = {derivative}, not {exact_derivative}");
        }
    }

    #[test]
    fn relu_and_abs_are_exact() {
        assert_near(ActivationKind::Relu, |x| (x.max(0.0), f64::from(u8::from(x > 0.0))));
        assert_near(ActivationKind::Abs, |x| (x.abs(), if x == 0.0 { 0.0 } else { x.signum() }));
    }

    #[test]
    fn gelu_tanh_is_within_its_bound() {
        assert_near(ActivationKind::GeluTanh, |x| {
            let c = (2.0 / std::f64::consts::PI).sqrt();
            let tanh = (c * (x + 0.044715 * x.powi(3))).tanh();
            let inner = c * (1.0 + 3.0 * 0.044715 * x * x);
            let bell = if tanh.abs() < 1.0 { x * (1.0 - tanh * tanh) * inner } else { 0.0 };
            (0.5 * x * (1.0 + tanh), 0.5 * (1.0 + tanh) + 0.5 * bell)
        });
    }

    #[test]
    fn gelu_is_within_its_bound() {
        assert_near(ActivationKind::Gelu, |x| {
            let cdf = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
            let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let bell = if density > 0.0 { x * density } else { 0.0 };
            (x * cdf, cdf + bell)
        });
    }

    fn logistic(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    #[test]
    fn sigmoid_silu_and_softplus_are_within_their_bounds() {
        assert_near(ActivationKind::Sigmoid, |x| (logistic(x), logistic(x) * logistic(-x)));
        assert_near(ActivationKind::Silu, |x| {
            (x * logistic(x), logistic(x) + if x.abs() < 700.0 { x * logistic(x) * logistic(-x) } else { 0.0 })
        });
        assert_near(ActivationKind::Softplus, |x| (x.max(0.0) + (-x.abs()).exp().ln_1p(), logistic(x)));
    }

    #[test]
    fn tanh_softplus_and_exp_have_all_digits_where_they_are_small() {
        assert_near(ActivationKind::Tanh, |x| (x.tanh(), 1.0 - x.tanh().powi(2)));
        let x: Vec<f32> = (1..2_000).map(|step| step as f32 * -0.03).chain([1e-30, 1e-7, -0.3, 0.624, 0.626]).collect();
        let assert_digits = |activation, exact: fn(f64) -> f64| {
            for (&x, y) in x.iter().zip(run(activation, &x).0) {
                let exact = exact(f64::from(x));
                assert!((f64::from(y) - exact).abs() <= 4e-7 * exact.abs(), "{activation:?} of {x} = {y}");
            }
        };
        assert_digits(ActivationKind::Tanh, f64::tanh);
        assert_digits(ActivationKind::Softplus, |x| x.max(0.0) + (-x.abs()).exp().ln_1p());
        assert_digits(ActivationKind::Exp, f64::exp);
        let (values, derivatives) = run(ActivationKind::Exp, &x);
        assert_eq!(values, derivatives);
    }

    #[test]
    fn sqrt_and_ln_have_all_digits_and_are_nan_below_zero() {
        let positive: Vec<f32> = arguments().into_iter().filter(|x| *x > 0.0).collect();
        let check = |activation, exact: fn(f64) -> (f64, f64)| {
            let (y, derivatives) = run(activation, &positive);
            for ((&x, y), derivative) in positive.iter().zip(y).zip(derivatives) {
                let exact = exact(f64::from(x));
                for (found, exact) in [(y, exact.0), (derivative, exact.1)] {
                    let is_near = (f64::from(found) - exact).abs() <= 4e-7 * exact.abs();
                    assert!(is_near, "{activation:?} of {x}: {found}, not {exact}");
                }
            }
            let (y, derivatives) = run(activation, &[f32::INFINITY, 0.0, -1.0, f32::NAN]);
            assert_eq!((y[0], y[1]), (f32::INFINITY, exact(0.0).0 as f32), "{activation:?}");
            assert_eq!(derivatives[..2], [0.0, f32::INFINITY], "{activation:?}");
            assert!(y[2].is_nan() && y[3].is_nan() && derivatives[3].is_nan(), "{activation:?}");
        };
        check(ActivationKind::Sqrt, |x| (x.sqrt(), 0.5 / x.sqrt()));
        check(ActivationKind::Ln, |x| (x.ln(), 1.0 / x));
    }

    #[test]
    fn infinity_and_nan_are_passed_on() {
        use ActivationKind::{Exp, Gelu, GeluTanh, Relu, Sigmoid, Silu, Softplus, Tanh};
        let x = [f32::INFINITY, f32::NAN, -f32::MAX];
        for (activation, limit, derivative, lowest) in [
            (Relu, f32::INFINITY, 1.0, 0.0),
            (GeluTanh, f32::INFINITY, 1.0, 0.0),
            (Gelu, f32::INFINITY, 1.0, 0.0),
            (Silu, f32::INFINITY, 1.0, 0.0),
            (Softplus, f32::INFINITY, 1.0, 0.0),
            (Exp, f32::INFINITY, f32::INFINITY, 0.0),
            (Sigmoid, 1.0, 0.0, 0.0),
            (Tanh, 1.0, 0.0, -1.0),
        ] {
            let (y, derivatives) = run(activation, &x);
            assert_eq!((y[0], derivatives[0]), (limit, derivative), "{activation:?}");
            assert!(y[1].is_nan() && (derivatives[1].is_nan() || activation == Relu), "{activation:?}");
            assert_eq!((y[2], derivatives[2]), (lowest, 0.0), "{activation:?}");
        }
    }
}
