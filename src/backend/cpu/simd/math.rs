//! Elementary functions without branches, so that loops over them vectorize.

use super::{ElementOps, ScalarElements};
use std::f32::consts::{FRAC_2_SQRT_PI, LOG2_E};

/// For smaller `x`, `eˣ` is rounded to 0, because it would be subnormal.
const EXP_MIN: f32 = -87.33;
/// For larger `x`, `eˣ` is ∞.
const EXP_MAX: f32 = 88.72;
/// 1.5 · 2²³: adding it rounds to an integer, which is then in the last bits of the sum.
const ROUND_TO_INT_MAGIC: f32 = 12_582_912.0;
/// ln 2 in two parts. The first has few digits, so that a multiple of it is exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// The minimax polynomial of `eʳ`: the one whose largest relative error for `|r| ≤ ln 2 / 2` is the smallest. The
/// highest power is first.
const EXP_POLY: [f32; 6] = [8.290_297e-3, 4.189_802e-2, 0.166_676_37, 0.499_991_48, 0.999_999_7, 1.0];

/// `eˣ`: 0 below -87.33, ∞ above 88.72, NaN for NaN; elsewhere with a relative error below 2·10⁻⁷.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    exp_element(ScalarElements(pulp::Scalar), x)
}

/// [`exp`] of an element.
#[inline(always)]
pub fn exp_element<C: ElementOps>(c: C, x: C::Element) -> C::Element {
    // eˣ = 2ⁿ · eʳ, where n is the integer nearest to x / ln 2, and |r| ≤ ln 2 / 2.
    let n_bits = c.mul_add(x, c.splat(LOG2_E), c.splat(ROUND_TO_INT_MAGIC));
    let n = c.sub(n_bits, c.splat(ROUND_TO_INT_MAGIC));
    let r = c.neg_mul_add(n, c.splat(LN_2[0]), x);
    let r = c.neg_mul_add(n, c.splat(LN_2[1]), r);
    let mut exp_r = c.splat(EXP_POLY[0]);
    for coefficient in &EXP_POLY[1..] {
        exp_r = c.mul_add(exp_r, r, c.splat(*coefficient));
    }
    // Adds n to the exponent bits. Between the limits the result is a normal number, although 2¹²⁸ itself would
    // overflow.
    let y = c.scale_exponent(exp_r, n_bits);
    // `scale_exponent` may turn a NaN into a number. Adding x · 0, which is 0 for every number, makes it NaN again. The
    // lines below give the results for infinities.
    let y = c.mul_add(x, c.splat(0.0), y);
    let y = c.select(c.less(x, c.splat(EXP_MIN)), c.splat(0.0), y);
    c.select(c.less(c.splat(EXP_MAX), x), c.splat(f32::INFINITY), y)
}

/// The polynomial of `(ln(1 + r) - r + r²/2) / r³` in Cephes' `logf`, for `√½ - 1 ≤ r < √2 - 1`. The highest power is
/// first.
const LN_POLY: [f32; 9] = [
    7.037_683_6e-2,
    -0.115_146_1,
    0.116_769_984,
    -0.124_201_41,
    0.142_493_23,
    -0.166_680_57,
    0.200_007_14,
    -0.249_999_94,
    0.333_333_3,
];

/// `ln x`: -∞ for 0, NaN below it and for NaN; elsewhere with a relative error below 4·10⁻⁷.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    // A subnormal number has no exponent, its multiple by 2²³ has.
    let is_tiny = x < f32::MIN_POSITIVE;
    let bits = (if is_tiny { x * 8_388_608.0 } else { x }).to_bits();
    // x = 2ⁿ (1 + r), where 1 + r is between √½ and √2. The constant has the bits of √½.
    let exponent = (bits.wrapping_sub(0x3f35_04f3) as i32) >> 23;
    let r = f32::from_bits(bits.wrapping_sub((exponent << 23) as u32)) - 1.0;
    let n = exponent as f32 - if is_tiny { 23.0 } else { 0.0 };
    let mut cubic = LN_POLY[0];
    for coefficient in &LN_POLY[1..] {
        cubic = cubic * r + coefficient;
    }
    let y = n * LN_2[0] + (r + (r * r * (r * cubic - 0.5) + n * LN_2[1]));
    let y = if x <= f32::MAX { y } else { x };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x < 0.0 { f32::NAN } else { y }
}

/// The error function, `2/√π ∫₀ˣ exp(-t²) dt`: ±1 beyond ±3.92, NaN for NaN; elsewhere with an error below 5·10⁻⁷.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    // x times a quotient of polynomials in x², as in XLA's `ErfF32`.
    let clamped = x.clamp(-3.832_507, 3.832_507);
    let square = clamped * clamped;
    let mut numerator = 2.290_506_6e-4;
    for coefficient in [3.408_291e-3, 5.095_569_5e-2, 0.185_208_32, FRAC_2_SQRT_PI] {
        numerator = numerator * square + coefficient;
    }
    let mut denominator = -1.179_160_3e-7;
    for coefficient in [2.354_796_6e-5, 1.017_962_5e-3, 1.407_047e-2, 0.110_985_05, 0.497_469_25, 1.0] {
        denominator = denominator * square + coefficient;
    }
    let y = clamped * numerator / denominator;
    let y = if x > 3.92 { 1.0 } else { y };
    if x < -3.92 { -1.0 } else { y }
}

/// `ln(1 + t)` for `t` from 0 to 1: `2 artanh(t / (2 + t))`.
#[inline(always)]
pub fn ln_1p(t: f32) -> f32 {
    let ratio = t / (2.0 + t);
    let square = ratio * ratio;
    let mut series = 1.0 / 15.0;
    for denominator in [13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * square + 1.0 / denominator;
    }
    2.0 * ratio * series
}

#[cfg(test)]
mod tests {
    use super::super::{VectorElements, level};
    use super::{FRAC_2_SQRT_PI, erf, exp, exp_element, ln};
    use pulp::{Scalar, Simd, WithSimd};

    #[test]
    fn erf_is_within_its_bound_over_the_whole_range() {
        let mut worst = 0f64;
        for step in -2_000_000..=2_000_000 {
            let x = step as f32 * 3e-6;
            worst = worst.max((f64::from(erf(x)) - libm::erf(f64::from(x))).abs());
        }
        assert!(worst < 5e-7, "{worst:e}");
    }

    #[test]
    fn erf_of_zero_subnormal_infinite_and_nan() {
        assert_eq!(erf(0.0), 0.0);
        assert_eq!(erf(f32::MIN_POSITIVE / 2.0), f32::MIN_POSITIVE / 2.0 * FRAC_2_SQRT_PI);
        assert_eq!(erf(f32::INFINITY), 1.0);
        assert_eq!(erf(f32::NEG_INFINITY), -1.0);
        assert!(erf(f32::NAN).is_nan());
    }

    #[test]
    fn exp_is_within_its_bound_over_the_whole_range() {
        let mut worst = 0f64;
        for step in 0..2_000_000 {
            let x = -87.33 + step as f32 * (176.05 / 2_000_000.0);
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
        }
        assert!(worst < 2e-7, "{worst:e}");
    }

    #[test]
    fn ln_is_within_its_bound_over_the_whole_range() {
        // All exponents, subnormal ones too, with 4,096 numbers of each, and all numbers near 1.
        let all = (1..0x7f80_0000).step_by(2048);
        for x in all.chain(0x3f7f_0000..0x3f81_0000).map(f32::from_bits) {
            let exact = f64::from(x).ln();
            assert!((f64::from(ln(x)) - exact).abs() <= 4e-7 * exact.abs(), "ln({x:e}) = {}", ln(x));
        }
        assert_eq!([0.0, -0.0, 1.0, f32::INFINITY].map(ln), [f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0, f32::INFINITY]);
        assert!([-1.0, -f32::MIN_POSITIVE / 2.0, f32::NEG_INFINITY, f32::NAN].iter().all(|x| ln(*x).is_nan()));
    }

    #[test]
    fn exp_in_lanes_is_exp() {
        struct ExpInLanes<'a>(&'a mut [f32]);
        impl WithSimd for ExpInLanes<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                for x in S::as_mut_simd_f32s(self.0).0 {
                    *x = exp_element(VectorElements(simd), *x);
                }
            }
        }
        let step = |i: i32| i as f32 * 1e-3;
        let special = [0.0, -0.0, f32::MIN_POSITIVE / 2.0, f32::MIN, f32::MAX];
        let infinite = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::from_bits(u32::MAX)];
        let mut x: Vec<f32> = (-100_000..100_000).map(step).collect();
        x.extend(special.iter().chain(&infinite));
        x.resize(x.len().next_multiple_of(64), 1.0);
        for is_scalar in [false, true] {
            let mut y = x.clone();
            if is_scalar {
                ExpInLanes(&mut y).with_simd(Scalar)
            } else {
                level().dispatch(ExpInLanes(&mut y))
            }
            for (x, y) in x.iter().zip(y) {
                let expected = exp(*x);
                let is_same = y == expected || (y.is_nan() && expected.is_nan());
                assert!(is_same || (y - expected).abs() <= 3e-7 * expected, "exp({x}) = {y}");
            }
        }
    }

    #[test]
    fn exp_of_zero_subnormal_infinite_and_nan() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f32::MIN_POSITIVE / 2.0), 1.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(f32::MIN), 0.0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(f32::MAX), f32::INFINITY);
        // Whatever the other bits of a NaN are.
        for bits in [0x7fc0_0000, 0x7f80_0001, 0x7fc0_0123, 0xffff_ffff] {
            assert!(exp(f32::from_bits(bits)).is_nan(), "{bits:x}");
        }
    }
}
