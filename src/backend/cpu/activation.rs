use super::{
    math::{erf, exp},
    vectorized,
};
use crate::backend::ActivationKind;
use std::f32::consts::FRAC_1_SQRT_2;

/// √(2/π).
const GELU: f32 = 0.797_884_6;
const CUBE: f32 = 0.044_715;
/// 1/√(2π).
const DENSITY: f32 = 0.398_942_3;

/// `$f` gives a value and a slope; what is not used of them is not computed. A function handed over as
/// a value would not become part of the loop that is compiled for wide registers.
macro_rules! each {
    ($x:ident, $y:ident, $f:ident) => {
        vectorized(
            #[inline(always)]
            || {
                for (y, x) in $y.iter_mut().zip($x) {
                    *y = $f(*x).0;
                }
            },
        )
    };
}

macro_rules! each_with_slopes {
    ($x:ident, $y:ident, $slopes:ident, $f:ident) => {
        vectorized(
            #[inline(always)]
            || {
                for ((y, slope), x) in $y.iter_mut().zip($slopes.iter_mut()).zip($x) {
                    (*y, *slope) = $f(*x);
                }
            },
        )
    };
}

/// `y = f(x)`.
pub fn forward(function: ActivationKind, x: &[f32], y: &mut [f32]) {
    // A loop for each function, so that none is chosen inside it.
    match function {
        ActivationKind::Relu => each!(x, y, relu),
        ActivationKind::Gelu => each!(x, y, gelu),
        ActivationKind::GeluErf => each!(x, y, gelu_erf),
    }
}

/// `y = f(x)` and `slopes = f'(x)`.
pub fn forward_with_slopes(function: ActivationKind, x: &[f32], y: &mut [f32], slopes: &mut [f32]) {
    match function {
        ActivationKind::Relu => each_with_slopes!(x, y, slopes, relu),
        ActivationKind::Gelu => each_with_slopes!(x, y, slopes, gelu),
        ActivationKind::GeluErf => each_with_slopes!(x, y, slopes, gelu_erf),
    }
}

#[inline(always)]
fn relu(x: f32) -> (f32, f32) {
    // A NaN is neither above 0 nor to be hidden.
    let y = if x < 0.0 { 0.0 } else { x };
    (y, if x > 0.0 { 1.0 } else { 0.0 })
}

/// With `u = √(2/π) (x + 0.044715 x³)`, `(1 + tanh u) / 2` is the logistic function of `2u`.
#[inline(always)]
fn gelu(x: f32) -> (f32, f32) {
    // Beyond 12 the share is 0 or 1 to the last bit, and nothing below grows out of range.
    let inside = x.clamp(-12.0, 12.0);
    let square = inside * inside;
    let twice_u = 2.0 * GELU * inside * (1.0 + CUBE * square);
    let share = 1.0 / (1.0 + exp(-twice_u));
    let slope_of_twice_u = 2.0 * GELU * (1.0 + 3.0 * CUBE * square);
    let slope = share + inside * share * (1.0 - share) * slope_of_twice_u;
    (x * share, slope)
}

/// `x Φ(x)`, whose slope is `Φ(x) + x φ(x)`.
#[inline(always)]
fn gelu_erf(x: f32) -> (f32, f32) {
    let share = 0.5 + 0.5 * erf(x * FRAC_1_SQRT_2);
    let inside = x.clamp(-20.0, 20.0);
    let density = exp(-0.5 * inside * inside) * DENSITY;
    (x * share, share + inside * density)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From far below to far above, denser around 0.
    fn arguments() -> Vec<f32> {
        let dense = (-400_000..400_000).map(|step| step as f32 * 5e-5);
        let wide = (-90..90).map(|power| 2f32.powi(power));
        let all = dense.chain(wide.clone()).chain(wide.map(|x| -x));
        all.collect()
    }

    fn assert_near(function: ActivationKind, exact: impl Fn(f64) -> (f64, f64)) {
        let x = arguments();
        let (mut y, mut again, mut slopes) = <(Vec<f32>, Vec<f32>, Vec<f32>)>::default();
        for result in [&mut y, &mut again, &mut slopes] {
            result.resize(x.len(), 0.0);
        }
        forward(function, &x, &mut y);
        forward_with_slopes(function, &x, &mut again, &mut slopes);
        assert_eq!(y, again);
        for ((&x, y), slope) in x.iter().zip(y).zip(slopes) {
            let (exact_y, exact_slope) = exact(f64::from(x));
            let bound = 1e-6 * f64::from(x).abs().max(1.0);
            assert!((f64::from(y) - exact_y).abs() <= bound, "f({x}) = {y}");
            assert!((f64::from(slope) - exact_slope).abs() <= 2e-6, "f'({x}) = {slope}, not {exact_slope}");
        }
    }

    #[test]
    fn relu_is_exact() {
        assert_near(ActivationKind::Relu, |x| (x.max(0.0), f64::from(u8::from(x > 0.0))));
    }

    #[test]
    fn gelu_is_within_its_bound() {
        assert_near(ActivationKind::Gelu, |x| {
            let c = (2.0 / std::f64::consts::PI).sqrt();
            let tanh = (c * (x + 0.044715 * x.powi(3))).tanh();
            let inner = c * (1.0 + 3.0 * 0.044715 * x * x);
            let bell = if tanh.abs() < 1.0 { x * (1.0 - tanh * tanh) * inner } else { 0.0 };
            (0.5 * x * (1.0 + tanh), 0.5 * (1.0 + tanh) + 0.5 * bell)
        });
    }

    #[test]
    fn gelu_by_erf_is_within_its_bound() {
        assert_near(ActivationKind::GeluErf, |x| {
            let share = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
            let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let bell = if density > 0.0 { x * density } else { 0.0 };
            (x * share, share + bell)
        });
    }

    #[test]
    fn infinity_and_nan_come_through() {
        for function in [ActivationKind::Relu, ActivationKind::Gelu, ActivationKind::GeluErf] {
            let x = [f32::INFINITY, f32::NAN, -f32::MAX];
            let (mut y, mut slopes) = ([0.0; 3], [0.0; 3]);
            forward_with_slopes(function, &x, &mut y, &mut slopes);
            assert_eq!((y[0], slopes[0]), (f32::INFINITY, 1.0), "{function:?}");
            assert!(y[1].is_nan(), "{function:?}");
            assert_eq!((y[2], slopes[2]), (0.0, 0.0), "{function:?}");
        }
    }
}
