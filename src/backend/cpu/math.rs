//! Elementary functions in a form that the compiler turns into vector instructions.

use pulp::Simd;
use std::f32::consts::FRAC_2_SQRT_PI;

/// Below it `eˣ` is taken for 0, since it is no normal number; the lower end of [`exp`].
const LOWEST: f32 = -87.33;
/// Above it `eˣ` is ∞.
const HIGHEST: f32 = 88.72;
/// Adding 1.5 · 2²³ rounds to an integer, which the last bits of the sum are.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, the first of few digits, so that subtracting a multiple of it loses none.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// Of the series of `(eʳ - 1 - r) / r²`, the highest first.
const SERIES: [f32; 6] = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5];

/// `eˣ`: 0 below -87.33, ∞ above 88.72, NaN for NaN; elsewhere with a relative error below 2·10⁻⁷.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // eˣ = 2ⁿ · eʳ, n being the integer nearest to x / ln 2 and |r| ≤ ln 2 / 2.
    let inside = x.clamp(LOWEST, HIGHEST);
    let rounded = inside * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let r = inside - whole * LN_2[0] - whole * LN_2[1];
    let mut series = SERIES[0];
    for coefficient in &SERIES[1..] {
        series = series * r + coefficient;
    }
    let series = series * (r * r) + r + 1.0;
    // n is added to the exponent of the series. Within the range the sum leaves that of an exponent
    // neither above nor below, although 2ⁿ alone would.
    let y = f32::from_bits(series.to_bits().wrapping_add(rounded.to_bits() << 23));
    let y = if x < LOWEST { 0.0 } else { y };
    let y = if x > HIGHEST { f32::INFINITY } else { y };
    if x.is_nan() { x } else { y }
}

/// [`exp`] in each lane.
#[inline(always)]
pub fn exp_of_each<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let number = |number: f32| simd.splat_f32s(number);
    let inside = simd.max_f32s(simd.min_f32s(x, number(HIGHEST)), number(LOWEST));
    let rounded = simd.mul_add_e_f32s(inside, number(std::f32::consts::LOG2_E), number(ROUND));
    let whole = simd.sub_f32s(rounded, number(ROUND));
    let r = simd.mul_add_e_f32s(whole, number(-LN_2[0]), inside);
    let r = simd.mul_add_e_f32s(whole, number(-LN_2[1]), r);
    let mut series = number(SERIES[0]);
    for coefficient in &SERIES[1..] {
        series = simd.mul_add_e_f32s(series, r, number(*coefficient));
    }
    let series = simd.mul_add_e_f32s(series, simd.mul_f32s(r, r), simd.add_f32s(r, number(1.0)));
    let n = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(rounded), simd.splat_u32s(23));
    let y = simd.add_u32s(simd.transmute_u32s_f32s(series), n);
    let y = simd.transmute_f32s_u32s(y);
    let y = simd.select_f32s(simd.less_than_f32s(x, number(LOWEST)), number(0.0), y);
    let y = simd.select_f32s(simd.greater_than_f32s(x, number(HIGHEST)), number(f32::INFINITY), y);
    simd.select_f32s(simd.equal_f32s(x, x), y, x)
}

/// The error function, `2/√π ∫₀ˣ exp(-t²) dt`: ±1 beyond ±3.92, NaN for NaN; elsewhere with an error
/// below 5·10⁻⁷.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    // x times a quotient of polynomials in x².
    let inside = x.clamp(-3.832_507, 3.832_507);
    let square = inside * inside;
    let mut over = 2.290_506_6e-4;
    for coefficient in [3.408_291e-3, 5.095_569_5e-2, 0.185_208_32, FRAC_2_SQRT_PI] {
        over = over * square + coefficient;
    }
    let mut under = -1.179_160_3e-7;
    for coefficient in [2.354_796_6e-5, 1.017_962_5e-3, 1.407_047e-2, 0.110_985_05, 0.497_469_25, 1.0] {
        under = under * square + coefficient;
    }
    let y = inside * over / under;
    let y = if x > 3.92 { 1.0 } else { y };
    if x < -3.92 { -1.0 } else { y }
}

#[cfg(test)]
mod tests {
    use super::{FRAC_2_SQRT_PI, erf, exp, exp_of_each};
    use pulp::{Arch, Scalar, Simd, WithSimd};

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
    fn erf_of_what_is_no_ordinary_number() {
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
    fn exp_of_each_is_exp() {
        struct Each<'a>(&'a mut [f32]);
        impl WithSimd for Each<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                for x in S::as_mut_simd_f32s(self.0).0 {
                    *x = exp_of_each(simd, *x);
                }
            }
        }
        let step = |i: i32| i as f32 * 1e-3;
        let special = [0.0, -0.0, f32::MIN_POSITIVE / 2.0, f32::MIN, f32::MAX];
        let infinite = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let mut x: Vec<f32> = (-100_000..100_000).map(step).collect();
        x.extend(special.iter().chain(&infinite));
        x.resize(x.len().next_multiple_of(64), 1.0);
        for is_scalar in [false, true] {
            let mut y = x.clone();
            match is_scalar {
                true => Each(&mut y).with_simd(Scalar),
                false => Arch::new().dispatch(Each(&mut y)),
            }
            for (x, y) in x.iter().zip(y) {
                let expected = exp(*x);
                let is_same = y == expected || (y.is_nan() && expected.is_nan());
                assert!(is_same || (y - expected).abs() <= 3e-7 * expected, "exp({x}) = {y}");
            }
        }
    }

    #[test]
    fn exp_of_what_is_no_ordinary_number() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f32::MIN_POSITIVE / 2.0), 1.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(f32::MIN), 0.0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(f32::MAX), f32::INFINITY);
        assert!(exp(f32::NAN).is_nan());
    }
}
