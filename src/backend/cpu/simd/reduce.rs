//! Reductions with as many accumulators as the widest vector has lanes, so that the compiler may use
//! vector instructions without changing the order of additions.

use itertools::izip;
use std::hint::black_box;

/// The number of accumulators: one vector of AVX-512, two of AVX2, four of SSE2 or NEON.
pub const ACCUMULATORS: usize = 16;

/// The length of a row of `len` elements that is padded to whole vectors: the next multiple of [`ACCUMULATORS`].
pub fn padded_len(len: usize) -> usize {
    len.next_multiple_of(ACCUMULATORS)
}

/// The number of elements of one part of a long reduction. A part is reduced in `f32`, and the parts are joined in
/// `f64`: the larger a sum is, the more an addition to it rounds. Rows of norms and of softmaxes have no parts.
pub const ELEMENTS_PER_PART: usize = 1 << 10;

/// `Σ a`.
#[inline(always)]
pub fn sum(a: &[f32]) -> f32 {
    let (chunks, rest) = a.as_chunks::<ACCUMULATORS>();
    let total = reduce_pairs(chunks.iter().map(|a| (a, a)), 0.0, |sum, a, _| sum + a, |a, b| a + b);
    let mut rest_sum = 0.0;
    for a in rest {
        rest_sum += a;
    }
    total + rest_sum
}

/// `Σ a b`.
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_chunks, a_rest) = a.as_chunks::<ACCUMULATORS>();
    let (b_chunks, b_rest) = b.as_chunks::<ACCUMULATORS>();
    let total = reduce_pairs(a_chunks.iter().zip(b_chunks), 0.0, |sum, a, b| sum + a * b, |a, b| a + b);
    let mut rest_sum = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest_sum += a * b;
    }
    total + rest_sum
}

/// The largest number; -∞ if there is none. A NaN is skipped.
#[inline(always)]
pub fn max(a: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (chunks, rest) = a.as_chunks::<ACCUMULATORS>();
    let pairs = chunks.iter().map(|a| (a, a));
    let mut largest = reduce_pairs(pairs, f32::NEG_INFINITY, |largest, a, _| larger(largest, a), larger);
    for a in rest {
        largest = larger(largest, *a);
    }
    largest
}

/// The largest element, or NaN if there is one; -∞ for an empty slice.
#[inline(always)]
pub fn max_or_nan(a: &[f32]) -> f32 {
    // Two loops: the second reads from the cache. In one loop, each step would wait for both comparisons.
    if a.iter().fold(false, |has_nan, x| has_nan | x.is_nan()) { f32::NAN } else { max(a) }
}

/// The larger one of two numbers, or NaN if one of them is.
#[inline(always)]
pub fn larger_or_nan(a: f32, b: f32) -> f32 {
    if b > a || b.is_nan() { b } else { a }
}

/// The least number of chunks for which whole vectors pay.
const MIN_CHUNKS_IN_VECTORS: usize = 4;

/// One cache line. If a vector is stored across two lines, the loads of its parts wait for the store.
#[repr(align(64))]
struct Aligned([f32; ACCUMULATORS]);

/// Joins the elements of two rows to the accumulators, chunk by chunk, and then these to one number. For a reduction of
/// one row, both chunks of a pair are the same.
#[inline(always)]
fn reduce_pairs<'a>(
    pairs: impl ExactSizeIterator<Item = (&'a [f32; ACCUMULATORS], &'a [f32; ACCUMULATORS])>,
    first: f32,
    step: impl Fn(f32, f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut accumulators = [first; ACCUMULATORS];
    let num_chunks = pairs.len();
    if num_chunks == 0 {
        return first;
    }
    if num_chunks < MIN_CHUNKS_IN_VECTORS {
        // Narrow stores may just have written a short row. A load of a whole vector would wait for all of them.
        for (a, b) in pairs {
            izip!(&mut accumulators, a, b).for_each(|(to, a, b)| *to = step(*to, *a, *b));
        }
        return tree_reduce(accumulators, join);
    }
    // The same loop, but in vectors: `black_box` hides from the compiler that a tree follows. It would shape the loop
    // after the last step of the tree, which joins two numbers: eight instructions on pairs in place of one on a vector.
    for (a, b) in pairs {
        izip!(&mut accumulators, a, b).for_each(|(to, a, b)| *to = step(*to, *a, *b));
    }
    tree_reduce(black_box(&Aligned(accumulators)).0, join)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::vectorized;

    #[test]
    fn rows_of_all_lengths_agree_with_the_definition() {
        for len in (0..100).chain([1023, 1024]) {
            let a: Vec<f32> = (0..len).map(|i| ((i * 7919) % 31) as f32 - 15.0).collect();
            let squares: f32 = a.iter().map(|x| x * x).sum();
            let largest = a.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let found = vectorized!([sum(&a), dot(&a, &a), max(&a), max_or_nan(&a)]);
            assert_eq!(found, [a.iter().sum(), squares, largest, largest], "{len}");
            for place in 0..len {
                let mut a = a.clone();
                a[place] = f32::INFINITY;
                assert_eq!(vectorized!([sum(&a), max(&a), max_or_nan(&a)]), [f32::INFINITY; 3]);
                a[place] = f32::NAN;
                assert!(vectorized!(sum(&a).is_nan() && dot(&a, &a).is_nan() && max_or_nan(&a).is_nan()));
                let others = a.iter().copied().filter(|x| !x.is_nan()).fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(vectorized!(max(&a)), others);
            }
        }
    }
}
