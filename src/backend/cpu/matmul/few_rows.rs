use crate::autograd::Partition;
use crate::simd::{PREFETCH_DISTANCE_BYTES, level, prefetch_after};
use pulp::{Simd, WithSimd};

/// `(m, k), (n, k) -> (m, n)`: adds `a bᵀ` to `output`. `a` has few rows; each element is a product of two contiguous
/// rows. Reads `b` once and in place. `partition` splits the rows of `b` over threads.
pub fn add_product_of_few_rows(output: &mut [f32], a: &[f32], b: &[f32], k: usize, partition: Partition) {
    let parts = partition.chunks().zip(partition.split_columns_mut(output, 1));
    partition.map_chunks(parts, |(rows, output)| {
        add_part_of_product(output, a, rows.slice(b, k), k);
    });
}

/// [`add_product_of_few_rows`] of a part of the rows of `b`. `output` has a slice for each row of `a`, with an element
/// for each row of `b`.
pub fn add_part_of_product(output: Vec<&mut [f32]>, a: &[f32], b: &[f32], k: usize) {
    level().dispatch(FewRows { output, a, b, k });
}

struct FewRows<'a> {
    /// For each row of `a`, an element for each row of `b`.
    output: Vec<&'a mut [f32]>,
    a: &'a [f32],
    b: &'a [f32],
    k: usize,
}

/// Rows of `a` and of `b` in a register tile.
const TILE: usize = 4;

impl WithSimd for FewRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { mut output, a, b, k } = self;
        if let [output] = &mut output[..] {
            for (output, b) in output.iter_mut().zip(b.chunks(k.max(1))) {
                *output += dot(simd, a, b);
            }
            return;
        }
        for (i, b) in b.chunks(TILE * k.max(1)).enumerate() {
            for (output, a) in output.chunks_mut(TILE).zip(a.chunks(TILE * k.max(1))) {
                // Whole tiles have a constant number of rows. Other rows are multiplied one by one.
                let multiply = |output: &mut [&mut [f32]], a: &[f32], b: &[f32], column: usize| {
                    if a.len() == TILE * k && b.len() == TILE * k {
                        multiply_tile::<S, TILE, TILE>(simd, output, column, a, b, k);
                    } else if b.len() == TILE * k {
                        for (output, a) in output.chunks_mut(1).zip(a.chunks(k)) {
                            multiply_tile::<S, 1, TILE>(simd, output, column, a, b, k);
                        }
                    } else {
                        for (output, a) in output.chunks_mut(1).zip(a.chunks(k)) {
                            for (j, b) in b.chunks(k).enumerate() {
                                multiply_tile::<S, 1, 1>(simd, output, column + j, a, b, k);
                            }
                        }
                    }
                };
                multiply(output, a, b, i * TILE);
            }
        }
    }
}

/// `Σ a b`. A weight from memory is read from its first byte to its last: the processor foresees one sequence of
/// addresses better than four, one for each row of a tile.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    const SUMS: usize = 4;
    let ((a, a_rest), (b, b_rest)) = (S::as_simd_f32s(a), S::as_simd_f32s(b));
    let ((a, a_vectors), (b, b_vectors)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    let mut sums = [simd.splat_f32s(0.0); SUMS];
    for (a, b) in a.iter().zip(b) {
        prefetch_after(b, PREFETCH_DISTANCE_BYTES);
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum = simd.mul_add_e_f32s(a, b, *sum);
        }
    }
    for ((sum, &a), &b) in sums.iter_mut().zip(a_vectors).zip(b_vectors) {
        *sum = simd.mul_add_e_f32s(a, b, *sum);
    }
    let sum = sums.into_iter().reduce(|sum, other| simd.add_f32s(sum, other)).expect("there are sums");
    simd.reduce_sum_f32s(sum) + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// `output[i][column + j] += Σ a[i] b[j]`.
#[inline(always)]
fn multiply_tile<S: Simd, const M: usize, const N: usize>(
    simd: S,
    output: &mut [&mut [f32]],
    column: usize,
    a: &[f32],
    b: &[f32],
    k: usize,
) {
    let a: [_; M] = std::array::from_fn(|i| S::as_simd_f32s(&a[i * k..][..k]));
    let b: [_; N] = std::array::from_fn(|j| S::as_simd_f32s(&b[j * k..][..k]));
    let mut sums = [[simd.splat_f32s(0.0); N]; M];
    for l in 0..k / S::F32_LANES {
        // The rows of the next tile follow those of this one. With a single row of `a`, loads are the limit, and a
        // prefetch is one more.
        if M > 1 {
            for b in &b {
                prefetch_after(&b.0[l..=l], N * k * size_of::<f32>());
            }
        }
        for (sums, a) in sums.iter_mut().zip(&a) {
            for (sum, b) in sums.iter_mut().zip(&b) {
                *sum = simd.mul_add_e_f32s(a.0[l], b.0[l], *sum);
            }
        }
    }
    for ((output, sums), a) in output.iter_mut().zip(sums).zip(a) {
        for ((output, sum), b) in output[column..].iter_mut().zip(sums).zip(b) {
            let rest: f32 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
            *output += simd.reduce_sum_f32s(sum) + rest;
        }
    }
}
