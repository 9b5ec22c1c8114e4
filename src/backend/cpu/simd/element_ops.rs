use super::exp_element;
use pulp::Simd;

/// Arithmetic on the elements of a row.
///
/// A loop body generic over `ElementOps` works for two layouts of rows: numbers ([`ScalarElements`]), and vectors
/// ([`VectorElements`]) whose lanes belong to different rows, or to neighbouring elements of one row. (faer's `SimdCtx`
/// does the same.)
pub trait ElementOps: Copy {
    /// The instruction set.
    type Simd: Simd;
    /// An element of a row.
    type Element: Copy;
    /// A condition on elements.
    type Mask: Copy;

    fn simd(self) -> Self::Simd;
    /// An element as a vector: an `f32` is broadcast.
    fn to_vector(self, element: Self::Element) -> <Self::Simd as Simd>::f32s;
    fn elements(all: &[f32]) -> &[Self::Element];

    fn splat(self, x: f32) -> Self::Element;
    fn add(self, a: Self::Element, b: Self::Element) -> Self::Element;
    fn sub(self, a: Self::Element, b: Self::Element) -> Self::Element;
    fn mul(self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// `a b + c`.
    fn mul_add(self, a: Self::Element, b: Self::Element, c: Self::Element) -> Self::Element;
    /// `c - a b`.
    fn neg_mul_add(self, a: Self::Element, b: Self::Element, c: Self::Element) -> Self::Element;
    /// The larger of both. If one is NaN, processors differ.
    fn max(self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// `2ⁿ a`, where `n` is the integer in the low bits of `n_bits`.
    fn scale_exponent(self, a: Self::Element, n_bits: Self::Element) -> Self::Element;
    fn less(self, a: Self::Element, b: Self::Element) -> Self::Mask;
    fn select(self, mask: Self::Mask, then: Self::Element, otherwise: Self::Element) -> Self::Element;
}

/// Methods that are always inlined.
macro_rules! inlined {
    ($($name:ident($($argument:tt)*) -> $result:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name($($argument)*) -> $result {
            $body
        }
    )*};
}

/// Each row is contiguous. The compiler vectorizes along it.
#[derive(Clone, Copy)]
pub struct ScalarElements<S>(pub S);

impl<S: Simd> ElementOps for ScalarElements<S> {
    type Simd = S;
    type Element = f32;
    type Mask = bool;

    inlined! {
        simd(self) -> S = self.0;
        to_vector(self, element: f32) -> S::f32s = self.0.splat_f32s(element);
        elements(all: &[f32]) -> &[f32] = all;
        splat(self, x: f32) -> f32 = x;
        add(self, a: f32, b: f32) -> f32 = a + b;
        sub(self, a: f32, b: f32) -> f32 = a - b;
        mul(self, a: f32, b: f32) -> f32 = a * b;
        // Not `f32::mul_add`, which is a call into the C library on processors without FMA.
        mul_add(self, a: f32, b: f32, c: f32) -> f32 = a * b + c;
        neg_mul_add(self, a: f32, b: f32, c: f32) -> f32 = c - a * b;
        max(self, a: f32, b: f32) -> f32 = if a > b { a } else { b };
        scale_exponent(self, a: f32, n_bits: f32) -> f32 =
            f32::from_bits(a.to_bits().wrapping_add(n_bits.to_bits() << 23));
        less(self, a: f32, b: f32) -> bool = a < b;
        select(self, mask: bool, then: f32, otherwise: f32) -> f32 = if mask { then } else { otherwise };
    }
}

/// A vector holds one element of each of several rows, or several elements of one row.
#[derive(Clone, Copy)]
pub struct VectorElements<S>(pub S);

impl<S: Simd> ElementOps for VectorElements<S> {
    type Simd = S;
    type Element = S::f32s;
    type Mask = S::m32s;

    inlined! {
        simd(self) -> S = self.0;
        to_vector(self, element: S::f32s) -> S::f32s = element;
        elements(all: &[f32]) -> &[S::f32s] = S::as_simd_f32s(all).0;
        splat(self, x: f32) -> S::f32s = self.0.splat_f32s(x);
        add(self, a: S::f32s, b: S::f32s) -> S::f32s = self.0.add_f32s(a, b);
        sub(self, a: S::f32s, b: S::f32s) -> S::f32s = self.0.sub_f32s(a, b);
        mul(self, a: S::f32s, b: S::f32s) -> S::f32s = self.0.mul_f32s(a, b);
        mul_add(self, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s = self.0.mul_add_e_f32s(a, b, c);
        neg_mul_add(self, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s = self.0.negate_mul_add_e_f32s(a, b, c);
        max(self, a: S::f32s, b: S::f32s) -> S::f32s = self.0.max_f32s(a, b);
        scale_exponent(self, a: S::f32s, n_bits: S::f32s) -> S::f32s = {
            let simd = self.0;
            let n = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(n_bits), simd.splat_u32s(23));
            simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(a), n))
        };
        less(self, a: S::f32s, b: S::f32s) -> S::m32s = self.0.less_than_f32s(a, b);
        select(self, mask: S::m32s, then: S::f32s, otherwise: S::f32s) -> S::f32s = {
            // pulp's `select_f32s` does the same, but the compiler may leave it a call.
            let simd = self.0;
            let [then, otherwise] = [simd.transmute_u32s_f32s(then), simd.transmute_u32s_f32s(otherwise)];
            simd.transmute_f32s_u32s(simd.select_u32s(mask, then, otherwise))
        };
    }
}

// These loops have no closures. The compiler may make a closure a function of its own, which is compiled without the
// processor's vector instructions. Each of those instructions is then a call.
impl<S: Simd> VectorElements<S> {
    /// Replaces each `x` by `exp(x - max)`, and returns their sum in each lane.
    #[inline(always)]
    pub fn exp_in_place_and_sum(self, row: &mut [S::f32s], max: S::f32s) -> S::f32s {
        // One loop, so that the exponentials hide the latency of the additions.
        let mut sum = self.splat(0.0);
        for x in row {
            *x = exp_element(self, self.sub(*x, max));
            sum = self.add(sum, *x);
        }
        sum
    }

    /// `Σ a b`.
    #[inline(always)]
    pub fn dot(self, a: &[S::f32s], b: &[S::f32s]) -> S::f32s {
        let mut sum = self.splat(0.0);
        for (a, b) in a.iter().zip(b) {
            sum = self.mul_add(*a, *b, sum);
        }
        sum
    }

    /// The largest element; -∞ for an empty row.
    #[inline(always)]
    pub fn row_max(self, row: &[S::f32s]) -> S::f32s {
        let mut largest = self.splat(f32::NEG_INFINITY);
        for x in row {
            largest = self.max(largest, *x);
        }
        largest
    }
}
