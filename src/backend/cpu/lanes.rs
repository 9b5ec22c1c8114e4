//! Sums in as many parts as a vector register has lanes, so that the compiler may add them at once.

/// As many elements as are calculated with at once: a vector register of AVX-512, two of AVX2, four
/// of SSE2 or NEON.
pub const LANES: usize = 16;

/// The next multiple of [`LANES`].
pub fn padded(size: usize) -> usize {
    size.next_multiple_of(LANES)
}

/// `Σ a`.
#[inline(always)]
pub fn sum(a: &[f32]) -> f32 {
    let (chunks, rest) = a.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        for (sum, a) in sums.iter_mut().zip(chunk) {
            *sum += a;
        }
    }
    let mut rest_sum = 0.0;
    for a in rest {
        rest_sum += a;
    }
    total(sums) + rest_sum
}

/// `Σ a b`.
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let mut rest_sum = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest_sum += a * b;
    }
    total(sums) + rest_sum
}

/// The largest; -∞ of none.
#[inline(always)]
pub fn max(a: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (chunks, rest) = a.as_chunks::<LANES>();
    let mut highest = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for (highest, a) in highest.iter_mut().zip(chunk) {
            *highest = larger(*highest, *a);
        }
    }
    let mut highest = halves(highest, larger);
    for a in rest {
        highest = larger(highest, *a);
    }
    highest
}

/// The sum of all lanes.
#[inline(always)]
pub fn total(lanes: [f32; LANES]) -> f32 {
    halves(lanes, |a, b| a + b)
}

/// Joins the upper half of the lanes to the lower until one is left.
#[inline(always)]
fn halves(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = join(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}
