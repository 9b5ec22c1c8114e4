//! Products of matrices that are rounded to bfloat16, as mixed precision has them. A product of two such numbers is
//! exact in `f32`, in which the sums are too. The instructions of AVX-512 take numbers below 1.2e-38 for 0.

use super::{Matrix, fill_rows};
use crate::autograd::{Buffer, Partition, partition_rows};
use crate::simd::{add_row, row_chunks_mut, vectorized};
use std::ops::Range;
#[cfg(target_arch = "x86_64")]
use {
    crate::simd::level,
    pulp::{Arch, cast},
    std::arch::x86_64::{__cpuid, __m512bh, _mm512_dpbf16_ps, _mm512_set1_ps, _mm512_setzero_ps},
    std::sync::LazyLock,
};

/// The rows and the columns of a register tile of the output. A row is three vectors of AVX-512.
const TILE_ROWS: usize = 8;
const TILE_COLUMNS: usize = 48;
type Tile = [[f32; TILE_COLUMNS]; TILE_ROWS];
/// The rows, columns and terms of a block. A block of `a` (0.5 MB) stays in the second level of the cache, one of the
/// output (2 MB) in the third, and a panel of `b` (24 kB) in the first.
const ROWS_PER_BLOCK: usize = 128 * TILE_ROWS;
const COLUMNS_PER_BLOCK: usize = 10 * TILE_COLUMNS;
const TERMS_PER_BLOCK: usize = 256;

/// Whether products in bfloat16 are faster here than in `f32`. They are on AMD's processors with AVX512-BF16: an
/// instruction makes two multiply-adds where one of `f32` makes one. Intel's take longer for it than for two of `f32`.
pub fn has_fast_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static HAS: LazyLock<bool> = LazyLock::new(|| {
            let vendor = __cpuid(0);
            let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat();
            let has_instructions = matches!(level(), Arch::V4(_)) && is_x86_feature_detected!("avx512bf16");
            has_instructions && vendor == b"AuthenticAMD"
        });
        *HAS
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The bits of an `f32` that a bfloat16 has.
const UPPER_HALF: u32 = 0xffff_0000;

/// The bfloat16 that is nearest; of two, the even one.
#[inline(always)]
pub fn round_to_bf16(x: f32) -> f32 {
    /// Makes a NaN quiet. Without it the upper half of a NaN may be that of an infinity.
    const QUIET: u32 = 1 << 22;
    let bits = x.to_bits();
    // This carries into the upper half of the bits if the lower half is more than 0x8000, or if it is 0x8000 and the
    // upper half is odd.
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    f32::from_bits(UPPER_HALF & if x.is_nan() { bits | QUIET } else { rounded })
}

/// [`round_to_bf16`] of each element.
pub fn round_all_to_bf16(elements: &mut [f32]) {
    vectorized!(round_row_to_bf16(elements));
}

/// [`round_all_to_bf16`] for short rows, inside a [`vectorized`] loop.
#[inline(always)]
fn round_row_to_bf16(row: &mut [f32]) {
    for x in row {
        *x = round_to_bf16(*x);
    }
}

/// `(m, k), (k, n), (n,) -> (m, n)`: `round(round(a) round(b) + bias)`.
///
/// # Panics
/// If the dimensions are inconsistent, or neither the rows nor the columns of a matrix are contiguous.
pub fn matmul_in_bf16(output: &mut [f32], a: Matrix, b: Matrix, bias: Option<&[f32]>) {
    let (m, n, k) = (a.rows(), b.columns(), a.columns());
    assert_eq!((output.len(), b.rows()), (m * n, k));
    assert!(bias.is_none_or(|bias| bias.len() == n));
    if k == 0 {
        fill_rows(output, bias, n);
        return round_all_to_bf16(output);
    }
    let a = pack_all::<TILE_ROWS>(a.transposed());
    let multiply = |rows: Range<usize>, columns: Range<usize>, mut part: Vec<&mut [f32]>| {
        let (b, bias) = (b.column_range(columns.clone()), bias.map(|bias| &bias[columns]));
        for (first_row, part) in rows.step_by(ROWS_PER_BLOCK).zip(part.chunks_mut(ROWS_PER_BLOCK)) {
            let a = &a[first_row * k.div_ceil(2)..];
            for first_column in (0..b.columns()).step_by(COLUMNS_PER_BLOCK) {
                let block = first_column..b.columns().min(first_column + COLUMNS_PER_BLOCK);
                let mut output: Vec<_> = part.iter_mut().map(|row| &mut row[block.clone()]).collect();
                multiply_block(&mut output, a, b.column_range(block.clone()), bias.map(|bias| &bias[block]));
            }
        }
    };
    // Threads divide the longer axis, so that each packs little of `b` twice.
    if n >= m {
        let partition = Partition::of_groups(n, TILE_COLUMNS, m * k, usize::MAX);
        let parts = partition.chunks().zip(partition.split_columns_mut(output, 1));
        partition.map_chunks(parts, |(columns, part)| multiply(0..m, columns.range(), part));
    } else {
        let partition = Partition::of_groups(m, TILE_ROWS, n * k, usize::MAX);
        partition.map_mut(output, n, |rows, part| multiply(rows.range(), 0..n, row_chunks_mut(part, n).collect()));
    }
}

/// A block of the output, from the packed rows of `a` and the columns of `b` for it.
fn multiply_block(output: &mut [&mut [f32]], a: &[f32], b: Matrix, bias: Option<&[f32]>) {
    let (k, pairs) = (b.rows(), b.rows().div_ceil(2));
    let mut packed = Buffer::recycled(TERMS_PER_BLOCK / 2 * TILE_COLUMNS);
    for first_term in (0..k).step_by(TERMS_PER_BLOCK) {
        let terms = first_term..k.min(first_term + TERMS_PER_BLOCK);
        let packed = &mut packed[..terms.len().div_ceil(2) * TILE_COLUMNS];
        for first_column in (0..b.columns()).step_by(TILE_COLUMNS) {
            let columns = first_column..b.columns().min(first_column + TILE_COLUMNS);
            pack::<TILE_COLUMNS>(packed, b.row_range(terms.clone()).column_range(columns.clone()));
            let b = packed.as_chunks().0;
            for (a, rows) in a.chunks(pairs * TILE_ROWS).zip(output.chunks_mut(TILE_ROWS)) {
                let a = &a.as_chunks().0[first_term / 2..][..b.len()];
                let sums = multiply_tile(a, b);
                vectorized!(for (row, sums) in rows.iter_mut().zip(&sums) {
                    let row = &mut row[columns.clone()];
                    if terms.start > 0 {
                        add_row(row, sums);
                    } else {
                        row.copy_from_slice(&sums[..columns.len()]);
                        if let Some(bias) = bias {
                            add_row(row, &bias[columns.clone()]);
                        }
                    }
                    if terms.end == k {
                        round_row_to_bf16(row);
                    }
                });
            }
        }
    }
}

/// The products of a tile, for the pairs of a block. Only tests run the loop without these instructions: the operation
/// has a definition for other processors.
fn multiply_tile(a: &[[f32; TILE_ROWS]], b: &[[f32; TILE_COLUMNS]]) -> Tile {
    #[cfg(target_arch = "x86_64")]
    if has_fast_bf16() {
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        // SAFETY: this processor has AVX-512 and its instructions for bfloat16.
        return unsafe { multiply_tile_in_avx512(a, b) };
    }
    let mut sums = [[0.0; TILE_COLUMNS]; TILE_ROWS];
    for (a, b) in a.iter().zip(b) {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                let ([a_first, a_second], [b_first, b_second]) = (unpaired(*a), unpaired(*b));
                *sum += a_first * b_first + a_second * b_second;
            }
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bf16")]
fn multiply_tile_in_avx512(a: &[[f32; TILE_ROWS]], b: &[[f32; TILE_COLUMNS]]) -> Tile {
    const VECTORS: usize = TILE_COLUMNS / 16;
    let mut sums = [[_mm512_setzero_ps(); VECTORS]; TILE_ROWS];
    for (a, b) in a.iter().zip(b) {
        let b: [__m512bh; VECTORS] = cast(*b);
        for (sums, a) in sums.iter_mut().zip(a) {
            let a: __m512bh = cast(_mm512_set1_ps(*a));
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = _mm512_dpbf16_ps(*sum, a, b);
            }
        }
    }
    cast(sums)
}

/// A rounded matrix in panels of `WIDTH` columns, each of which is [packed](pack).
fn pack_all<const WIDTH: usize>(matrix: Matrix) -> Buffer {
    let len = matrix.rows().div_ceil(2) * WIDTH;
    let panels = matrix.columns().div_ceil(WIDTH);
    let mut packed = Buffer::recycled(panels * len);
    /// The cost of copying an element, in multiply-adds.
    const MACS_PER_COPY: usize = 8;
    partition_rows(panels, len, MACS_PER_COPY).map_mut(&mut packed, len, |chunk, packed| {
        for (panel, packed) in chunk.range().zip(row_chunks_mut(packed, len)) {
            let columns = panel * WIDTH..matrix.columns().min((panel + 1) * WIDTH);
            pack::<WIDTH>(packed, matrix.column_range(columns));
        }
    });
    packed
}

/// Packs a panel: a [`pair`] of numbers for each two rows and each column. What is missing is filled up with zeros.
fn pack<const WIDTH: usize>(packed: &mut [f32], panel: Matrix) {
    match panel.contiguous_rows() {
        Some(rows) => pack_rows::<WIDTH>(packed, rows),
        None => pack_columns::<WIDTH>(packed, panel),
    }
}

/// Two rounded numbers in the bits of an `f32`, the first one in the lower half.
#[inline(always)]
fn pair(first: f32, second: f32) -> f32 {
    f32::from_bits(round_to_bf16(first).to_bits() >> 16 | round_to_bf16(second).to_bits())
}

/// The two numbers of a [`pair`].
fn unpaired(pair: f32) -> [f32; 2] {
    [f32::from_bits(pair.to_bits() << 16), f32::from_bits(pair.to_bits() & UPPER_HALF)]
}

/// A row of a panel, filled up with zeros.
#[inline(always)]
fn padded<const WIDTH: usize>(row: &[f32]) -> [f32; WIDTH] {
    row.as_array().copied().unwrap_or_else(
        #[inline(always)]
        || {
            let mut padded = [0.0; WIDTH];
            padded[..row.len()].copy_from_slice(row);
            padded
        },
    )
}

/// Packs a panel whose rows are contiguous.
fn pack_rows<'a, const WIDTH: usize>(packed: &mut [f32], mut rows: impl Iterator<Item = &'a [f32]>) {
    vectorized!(for pairs in packed.as_chunks_mut::<WIDTH>().0 {
        let [first, second] = [rows.next(), rows.next()].map(Option::unwrap_or_default);
        let (first, second) = (padded::<WIDTH>(first), padded::<WIDTH>(second));
        for i in 0..WIDTH {
            pairs[i] = pair(first[i], second[i]);
        }
    });
}

/// Packs a panel whose columns are contiguous.
fn pack_columns<const WIDTH: usize>(pairs: &mut [f32], panel: Matrix) {
    let len = pairs.len() / WIDTH;
    let mut columns = Buffer::recycled(WIDTH * len);
    let (packed, rest) = columns.split_at_mut(panel.columns() * len);
    rest.fill(0.0);
    let columns_of_panel: Vec<_> = panel.transposed().contiguous_rows().expect("columns are contiguous").collect();
    vectorized!(for (packed, column) in row_chunks_mut(packed, len).zip(&columns_of_panel) {
        let (whole, rest) = column.as_chunks::<2>();
        for (packed, [first, second]) in packed.iter_mut().zip(whole) {
            *packed = pair(*first, *second);
        }
        if let (Some(packed), [last]) = (packed.last_mut(), rest) {
            *packed = pair(*last, 0.0);
        }
    });
    Matrix::new(&columns, WIDTH, len).transposed().copy_to_rows(&mut pairs.chunks_mut(WIDTH).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_the_definition_in_f64() {
        for (m, n, k) in
            [(1, 1, 1), (2, 3, 0), (5, 49, 3), (7, 130, 17), (150, 33, 31), (9, 1, 300), (40, 100, 515), (300, 310, 40)]
        {
            let numbers = |count: usize, from: usize| -> Vec<f32> {
                (from..from + count).map(|i| ((i * 7919) % 1013) as f32 / 500.0 - 1.0).collect()
            };
            let (a, b, bias) = (numbers(m * k, 0), numbers(k * n, 5), numbers(n, 11));
            let views = |elements, rows, columns| {
                [Matrix::new(elements, rows, columns), Matrix::new(elements, columns, rows).transposed()]
            };
            for (a, b) in itertools::iproduct!(views(&a, m, k), views(&b, k, n)) {
                for bias in [None, Some(&bias[..])] {
                    let mut output = vec![f32::NAN; m * n];
                    matmul_in_bf16(&mut output, a, b, bias);
                    for (i, y) in output.into_iter().enumerate() {
                        let rounded = |x| f64::from(round_to_bf16(x));
                        let product: f64 = (0..k).map(|l| rounded(a.get(i / n, l)) * rounded(b.get(l, i % n))).sum();
                        let sum = product + bias.map_or(0.0, |bias| f64::from(bias[i % n]));
                        assert_eq!(y.to_bits() << 16, 0, "{y} is not a bfloat16");
                        // Half of the last place, and the error of a sum in `f32`.
                        let is_close = (f64::from(y) - sum).abs() <= sum.abs() / 256.0 + 1e-6 * k as f64;
                        assert!(is_close, "{m} {n} {k}, {i}: {y} {sum}");
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_stay_so() {
        let with = |x: f32| -> [f32; 40] { std::array::from_fn(|i| if i == 7 { x } else { 1.0 }) };
        // The last NaN is infinity without its last bit.
        for x in [f32::INFINITY, f32::NAN, f32::from_bits(0x7f80_0001)] {
            let (a, b, mut output) = (with(x), with(1.0), [0.0]);
            matmul_in_bf16(&mut output, Matrix::new(&a, 1, 40), Matrix::new(&b, 40, 1), None);
            assert!(output[0] == x || output[0].is_nan() && x.is_nan(), "{x}: {}", output[0]);
        }
    }
}
