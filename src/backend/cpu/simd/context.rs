use super::reduce;
use pulp::Simd;

/// Arithmetic on the elements of a row.
///
/// A loop body generic over `Context` works for both layouts. In [`ScalarElements`] an element is an `f32`, and a
/// sum over a row reduces across its elements. In [`VectorElements`] an element is a vector whose lanes belong to
/// different rows, and each lane keeps its own sum. (faer's `SimdCtx` does the same.)
pub trait Context: Copy {
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
    fn elements_mut(all: &mut [f32]) -> &mut [Self::Element];

    fn splat(self, x: f32) -> Self::Element;
    fn add(self, a: Self::Element, b: Self::Element) -> Self::Element;
    fn sub(self, a: Self::Element, b: Self::Element) -> Self::Element;
    fn mul(self, a: Self::Element, b: Self::Element) -> Self::Element;
    fn div(self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// `a b + c`.
    fn mul_add(self, a: Self::Element, b: Self::Element, c: Self::Element) -> Self::Element;
    /// `c - a b`.
    fn neg_mul_add(self, a: Self::Element, b: Self::Element, c: Self::Element) -> Self::Element;
    fn sqrt(self, a: Self::Element) -> Self::Element;
    /// The smaller of both; `b` if one is NaN.
    fn min(self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// The larger of both; `b` if one is NaN.
    fn max(self, a: Self::Element, b: Self::Element) -> Self::Element;
    fn less(self, a: Self::Element, b: Self::Element) -> Self::Mask;
    fn equal(self, a: Self::Element, b: Self::Element) -> Self::Mask;
    fn select(self, mask: Self::Mask, then: Self::Element, otherwise: Self::Element) -> Self::Element;
    /// `2ⁿ a`, where `n` is the integer in the low bits of `n_bits`.
    fn scale_exponent(self, a: Self::Element, n_bits: Self::Element) -> Self::Element;

    /// `Σ a`.
    fn sum(self, a: &[Self::Element]) -> Self::Element;
    /// Replaces each element `a` by `f(a)`, and returns `Σ f(a)`.
    fn map_in_place_and_sum(self, a: &mut [Self::Element], f: impl Fn(Self::Element) -> Self::Element)
    -> Self::Element;
    /// `Σ a b`.
    fn dot(self, a: &[Self::Element], b: &[Self::Element]) -> Self::Element;
    /// The largest element; -∞ for an empty row.
    fn row_max(self, a: &[Self::Element]) -> Self::Element;
}

/// Functions of elements.
macro_rules! elementwise {
    ($self:ident, $element:ty => $($name:ident($($argument:ident),*) = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name($self, $($argument: $element),*) -> $element {
            $body
        }
    )*};
}

/// Each row is contiguous. The compiler vectorizes along it.
#[derive(Clone, Copy)]
pub struct ScalarElements<S>(pub S);

impl<S: Simd> Context for ScalarElements<S> {
    type Simd = S;
    type Element = f32;
    type Mask = bool;

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }
    #[inline(always)]
    fn to_vector(self, element: f32) -> S::f32s {
        self.0.splat_f32s(element)
    }
    #[inline(always)]
    fn elements(all: &[f32]) -> &[f32] {
        all
    }
    #[inline(always)]
    fn elements_mut(all: &mut [f32]) -> &mut [f32] {
        all
    }
    #[inline(always)]
    fn splat(self, x: f32) -> f32 {
        x
    }
    elementwise! { self, f32 =>
        add(a, b) = a + b;
        sub(a, b) = a - b;
        mul(a, b) = a * b;
        div(a, b) = a / b;
        // Not `f32::mul_add`, which is a call into the C library on processors without FMA.
        mul_add(a, b, c) = a * b + c;
        neg_mul_add(a, b, c) = c - a * b;
        sqrt(a) = a.sqrt();
        min(a, b) = if a < b { a } else { b };
        max(a, b) = if a > b { a } else { b };
        scale_exponent(a, n_bits) = f32::from_bits(a.to_bits().wrapping_add(n_bits.to_bits() << 23));
    }
    #[inline(always)]
    fn less(self, a: f32, b: f32) -> bool {
        a < b
    }
    #[inline(always)]
    fn equal(self, a: f32, b: f32) -> bool {
        a == b
    }
    #[inline(always)]
    fn select(self, mask: bool, then: f32, otherwise: f32) -> f32 {
        if mask { then } else { otherwise }
    }
    #[inline(always)]
    fn sum(self, a: &[f32]) -> f32 {
        reduce::sum(a)
    }
    #[inline(always)]
    fn map_in_place_and_sum(self, a: &mut [f32], f: impl Fn(f32) -> f32) -> f32 {
        for a in a.iter_mut() {
            *a = f(*a);
        }
        reduce::sum(a)
    }
    #[inline(always)]
    fn dot(self, a: &[f32], b: &[f32]) -> f32 {
        reduce::dot(a, b)
    }
    #[inline(always)]
    fn row_max(self, a: &[f32]) -> f32 {
        reduce::max(a)
    }
}

/// Rows are interleaved: a vector holds one element of each of several rows.
#[derive(Clone, Copy)]
pub struct VectorElements<S>(pub S);

impl<S: Simd> Context for VectorElements<S> {
    type Simd = S;
    type Element = S::f32s;
    type Mask = S::m32s;

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }
    #[inline(always)]
    fn to_vector(self, element: S::f32s) -> S::f32s {
        element
    }
    #[inline(always)]
    fn elements(all: &[f32]) -> &[S::f32s] {
        S::as_simd_f32s(all).0
    }
    #[inline(always)]
    fn elements_mut(all: &mut [f32]) -> &mut [S::f32s] {
        S::as_mut_simd_f32s(all).0
    }
    #[inline(always)]
    fn splat(self, x: f32) -> S::f32s {
        self.0.splat_f32s(x)
    }
    elementwise! { self, S::f32s =>
        add(a, b) = self.0.add_f32s(a, b);
        sub(a, b) = self.0.sub_f32s(a, b);
        mul(a, b) = self.0.mul_f32s(a, b);
        div(a, b) = self.0.div_f32s(a, b);
        mul_add(a, b, c) = self.0.mul_add_e_f32s(a, b, c);
        neg_mul_add(a, b, c) = self.0.negate_mul_add_e_f32s(a, b, c);
        sqrt(a) = self.0.sqrt_f32s(a);
        min(a, b) = self.0.min_f32s(a, b);
        max(a, b) = self.0.max_f32s(a, b);
        scale_exponent(a, n_bits) = {
            let simd = self.0;
            let n = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(n_bits), simd.splat_u32s(23));
            simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(a), n))
        };
    }
    #[inline(always)]
    fn less(self, a: S::f32s, b: S::f32s) -> S::m32s {
        self.0.less_than_f32s(a, b)
    }
    #[inline(always)]
    fn equal(self, a: S::f32s, b: S::f32s) -> S::m32s {
        self.0.equal_f32s(a, b)
    }
    #[inline(always)]
    fn select(self, mask: S::m32s, then: S::f32s, otherwise: S::f32s) -> S::f32s {
        self.0.select_f32s(mask, then, otherwise)
    }
    #[inline(always)]
    fn sum(self, a: &[S::f32s]) -> S::f32s {
        a.iter().fold(self.splat(0.0), |sum, a| self.add(sum, *a))
    }
    #[inline(always)]
    fn map_in_place_and_sum(self, a: &mut [S::f32s], f: impl Fn(S::f32s) -> S::f32s) -> S::f32s {
        // One loop, so that computing `f` hides the latency of the additions.
        let mut sum = self.splat(0.0);
        for a in a {
            *a = f(*a);
            sum = self.add(sum, *a);
        }
        sum
    }
    #[inline(always)]
    fn dot(self, a: &[S::f32s], b: &[S::f32s]) -> S::f32s {
        a.iter().zip(b).fold(self.splat(0.0), |sum, (a, b)| self.mul_add(*a, *b, sum))
    }
    #[inline(always)]
    fn row_max(self, a: &[S::f32s]) -> S::f32s {
        a.iter().fold(self.splat(f32::NEG_INFINITY), |largest, a| self.max(largest, *a))
    }
}
