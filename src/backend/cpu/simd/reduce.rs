//! Reductions with as many accumulators as the widest vector has lanes, so that the compiler may use
//! vector instructions without changing the order of additions.

/// The number of accumulators: one vector of AVX-512, two of AVX2, four of SSE2 or NEON.
pub const ACCUMULATORS: usize = 16;

/// The length of a row of `len` elements that is padded to whole vectors: the next multiple of [`ACCUMULATORS`].
pub fn padded_len(len: usize) -> usize {
    len.next_multiple_of(ACCUMULATORS)
}

/// The number of elements that are reduced before their result joins the whole: adding to a large sum rounds more.
pub const ELEMENTS_PER_PART: usize = 1 << 10;

/// `Σ a`.
#[inline(always)]
pub fn sum(a: &[f32]) -> f32 {
    let (chunks, rest) = a.as_chunks::<ACCUMULATORS>();
    let mut sums = [0.0; ACCUMULATORS];
    for chunk in chunks {
        for (sum, a) in sums.iter_mut().zip(chunk) {
            *sum += a;
        }
    }
    let mut rest_sum = 0.0;
    for a in rest {
        rest_sum += a;
    }
    tree_reduce(sums, |a, b| a + b) + rest_sum
}

/// `Σ a b`.
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_chunks, a_rest) = a.as_chunks::<ACCUMULATORS>();
    let (b_chunks, b_rest) = b.as_chunks::<ACCUMULATORS>();
    let mut sums = [0.0; ACCUMULATORS];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let mut rest_sum = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest_sum += a * b;
    }
    tree_reduce(sums, |a, b| a + b) + rest_sum
}

/// The largest number; -∞ if there is none. A NaN is skipped.
#[inline(always)]
pub fn max(a: &[f32]) -> f32 {
    largest(a, |a, b| if b > a { b } else { a })
}

/// The largest element, or NaN if there is one; -∞ for an empty slice.
#[inline(always)]
pub fn max_or_nan(a: &[f32]) -> f32 {
    largest(a, larger_or_nan)
}

/// The larger one of two numbers, or NaN if one of them is.
#[inline(always)]
pub fn larger_or_nan(a: f32, b: f32) -> f32 {
    if b > a || b.is_nan() { b } else { a }
}

#[inline(always)]
fn largest(a: &[f32], larger: impl Fn(f32, f32) -> f32 + Copy) -> f32 {
    let (chunks, rest) = a.as_chunks::<ACCUMULATORS>();
    let mut largest = [f32::NEG_INFINITY; ACCUMULATORS];
    for chunk in chunks {
        for (largest, a) in largest.iter_mut().zip(chunk) {
            *largest = larger(*largest, *a);
        }
    }
    let mut largest = tree_reduce(largest, larger);
    for a in rest {
        largest = larger(largest, *a);
    }
    largest
}

/// Joins the upper half of the accumulators to the lower half until one is left.
#[inline(always)]
fn tree_reduce(mut accumulators: [f32; ACCUMULATORS], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = ACCUMULATORS / 2;
    while half > 0 {
        for i in 0..half {
            accumulators[i] = join(accumulators[i], accumulators[i + half]);
        }
        half /= 2;
    }
    accumulators[0]
}
