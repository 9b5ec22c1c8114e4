use crate::{
    autograd::{Partition, Split},
    conventions::ActivationKind,
    simd::{dispatch_simd, erf, exp},
};
use itertools::izip;
use std::f32::consts::FRAC_1_SQRT_2;

/// The cost of an element, in multiply-adds.
const MACS_PER_ELEMENT: usize = 32;
const SQRT_2_OVER_PI: f32 = 0.797_884_6;
/// The coefficient of `x³` in the tanh form of GELU.
const GELU_CUBIC: f32 = 0.044_715;
const INV_SQRT_2PI: f32 = 0.398_942_3;

/// `$f` returns (value, derivative); an unused derivative is optimized away. This is a macro because a
/// function passed as a value would not be inlined into the loop that is compiled for wide registers.
macro_rules! map_simd {
    ($y:ident, $x:ident, $f:ident) => {
        dispatch_simd(
            #[inline(always)]
            || {
                for (y, x) in $y.iter_mut().zip($x) {
                    *y = $f(*x).0;
                }
            },
        )
    };
}

macro_rules! map_simd_with_derivative {
    ($y:ident, $derivative:ident, $x:ident, $f:ident) => {
        dispatch_simd(
            #[inline(always)]
            || {
                for ((y, derivative), x) in $y.iter_mut().zip($derivative.iter_mut()).zip($x) {
                    (*y, *derivative) = $f(*x);
                }
            },
        )
    };
}

/// `(N,) -> (N,)`: `y = f(x)`.
pub fn activation_forward(y: &mut [f32], x: &[f32], activation: ActivationKind, split: Split) {
    let partition = partition(x.len(), split);
    let chunks = partition.ranges().zip(partition.split_mut(y, 1));
    partition.map_chunks(chunks, |(elements, y)| forward(y, elements.slice(x, 1), activation));
}

fn forward(y: &mut [f32], x: &[f32], activation: ActivationKind) {
    // One loop for each function, so that no loop branches.
    match activation {
        ActivationKind::Relu => map_simd!(y, x, relu),
        ActivationKind::GeluTanh => map_simd!(y, x, gelu_tanh),
        ActivationKind::Gelu => map_simd!(y, x, gelu),
    }
}

/// `(N,) -> (N,), (N,)`: `y = f(x)` and `derivative = f'(x)`.
pub fn activation_forward_with_derivative(
    y: &mut [f32],
    derivative: &mut [f32],
    x: &[f32],
    activation: ActivationKind,
    split: Split,
) {
    let partition = partition(x.len(), split);
    let chunks = izip!(partition.ranges(), partition.split_mut(y, 1), partition.split_mut(derivative, 1));
    partition.map_chunks(chunks, |(elements, y, derivative)| {
        forward_with_derivative(y, derivative, elements.slice(x, 1), activation);
    });
}

/// One chunk if the rows are split already.
fn partition(len: usize, split: Split) -> Partition {
    match split {
        Split::Rows => Partition::whole(len),
        Split::Columns => Partition::new(len, MACS_PER_ELEMENT, usize::MAX),
    }
}

fn forward_with_derivative(y: &mut [f32], derivative: &mut [f32], x: &[f32], activation: ActivationKind) {
    match activation {
        ActivationKind::Relu => map_simd_with_derivative!(y, derivative, x, relu),
        ActivationKind::GeluTanh => map_simd_with_derivative!(y, derivative, x, gelu_tanh),
        ActivationKind::Gelu => map_simd_with_derivative!(y, derivative, x, gelu),
    }
}

#[inline(always)]
fn relu(x: f32) -> (f32, f32) {
    // Not `x.max(0.0)`, which is 0 for NaN.
    let y = if x < 0.0 { 0.0 } else { x };
    (y, if x > 0.0 { 1.0 } else { 0.0 })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// From large negative to large positive, denser around 0.
    fn arguments() -> Vec<f32> {
        let dense = (-400_000..400_000).map(|step| step as f32 * 5e-5);
        let wide = (-90..90).map(|power| 2f32.powi(power));
        let all = dense.chain(wide.clone()).chain(wide.map(|x| -x));
        all.collect()
    }

    fn assert_near(activation: ActivationKind, exact: impl Fn(f64) -> (f64, f64)) {
        let x = arguments();
        let (mut y, mut same_y, mut derivatives) = <(Vec<f32>, Vec<f32>, Vec<f32>)>::default();
        for result in [&mut y, &mut same_y, &mut derivatives] {
            result.resize(x.len(), 0.0);
        }
        activation_forward(&mut y, &x, activation, Split::Columns);
        activation_forward_with_derivative(&mut same_y, &mut derivatives, &x, activation, Split::Rows);
        assert_eq!(y, same_y);
        for ((&x, y), derivative) in x.iter().zip(y).zip(derivatives) {
            let (exact_y, exact_derivative) = exact(f64::from(x));
            let bound = 1e-6 * f64::from(x).abs().max(1.0);
            assert!((f64::from(y) - exact_y).abs() <= bound, "f({x}) = {y}");
            assert!(
                (f64::from(derivative) - exact_derivative).abs() <= 2e-6,
                "f'({x}) = {derivative}, not {exact_derivative}"
            );
        }
    }

    #[test]
    fn relu_is_exact() {
        assert_near(ActivationKind::Relu, |x| (x.max(0.0), f64::from(u8::from(x > 0.0))));
    }

    #[test]
    fn gelu_is_within_its_bound() {
        assert_near(ActivationKind::GeluTanh, |x| {
            let c = (2.0 / std::f64::consts::PI).sqrt();
            let tanh = (c * (x + 0.044715 * x.powi(3))).tanh();
            let inner = c * (1.0 + 3.0 * 0.044715 * x * x);
            let bell = if tanh.abs() < 1.0 { x * (1.0 - tanh * tanh) * inner } else { 0.0 };
            (0.5 * x * (1.0 + tanh), 0.5 * (1.0 + tanh) + 0.5 * bell)
        });
    }

    #[test]
    fn gelu_by_erf_is_within_its_bound() {
        assert_near(ActivationKind::Gelu, |x| {
            let cdf = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
            let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let bell = if density > 0.0 { x * density } else { 0.0 };
            (x * cdf, cdf + bell)
        });
    }

    #[test]
    fn infinity_and_nan_are_passed_on() {
        for activation in [ActivationKind::Relu, ActivationKind::GeluTanh, ActivationKind::Gelu] {
            let x = [f32::INFINITY, f32::NAN, -f32::MAX];
            let (mut y, mut derivatives) = ([0.0; 3], [0.0; 3]);
            activation_forward_with_derivative(&mut y, &mut derivatives, &x, activation, Split::Rows);
            assert_eq!((y[0], derivatives[0]), (f32::INFINITY, 1.0), "{activation:?}");
            assert!(y[1].is_nan(), "{activation:?}");
            assert_eq!((y[2], derivatives[2]), (0.0, 0.0), "{activation:?}");
        }
    }
}
