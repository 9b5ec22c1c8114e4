use super::{Matrix, matrix::MatrixMut};
use crate::simd::{ELEMENTS_PER_PART, dot, vectorized};
use std::ops::Range;

/// The most multiply-adds of a product that takes less time here than gemm takes to pack its operands.
const MAX_MACS: usize = 1 << 13;

/// Whether [`matmul_small`] is faster than gemm for `(m, k), (k, n) -> (m, n)`.
pub fn is_small(m: usize, n: usize, k: usize) -> bool {
    // A scalar product or the multiple of a vector reads each element once.
    m * n * k <= MAX_MACS || m * n == 1 || (m.min(n) == 1 && k == 1)
}

/// `output = a b`, or `output += a b` if `accumulate`, for matrices of any strides: small ones, and all on a processor
/// on which gemm does not run. `scratch` is memory that the next product can use again.
///
/// # Panics
/// If the dimensions are inconsistent.
pub fn matmul_small(output: MatrixMut, a: Matrix, b: Matrix, accumulate: bool, scratch: &mut Vec<f32>) {
    assert_eq!((output.rows, output.columns, a.columns), (a.rows, b.columns, b.rows));
    // Vectors run along contiguous columns of the output.
    if output.column_stride != 1 && output.row_stride == 1 && output.rows > 1 || output.columns == 1 {
        return multiply_along_rows(output.transposed(), b.transposed(), a.transposed(), accumulate, scratch);
    }
    multiply_along_rows(output, a, b, accumulate, scratch);
}

/// [`matmul_small`] with vectors along the rows of the output.
fn multiply_along_rows(mut output: MatrixMut, a: Matrix, b: Matrix, accumulate: bool, scratch: &mut Vec<f32>) {
    let (inner, columns) = (a.columns, output.columns);
    if inner == 1 && (b.column_stride, output.column_stride) == (1, 1) {
        return write_multiples(output, a, &b.elements[..columns], accumulate);
    }
    // Short scalar products take less time in tiles, many columns at once.
    let are_dots = output.rows == 1 && (inner >= COLUMNS_PER_TILE || columns == 1);
    if are_dots && (a.column_stride, b.row_stride) == (1, 1) {
        return write_dots(output, a, b, accumulate);
    }
    if output.rows * columns == 1 {
        return write_strided_dot(&mut output.elements[0], a, b, accumulate);
    }
    scratch.clear();
    scratch.resize(inner * COLUMNS_PER_TILE, 0.0);
    for start in (0..columns).step_by(COLUMNS_PER_TILE) {
        let range = start..columns.min(start + COLUMNS_PER_TILE);
        copy_columns(scratch, b, range.clone());
        let (b, _) = scratch.as_chunks::<COLUMNS_PER_TILE>();
        write_columns(&mut output, a, b, range, accumulate);
    }
}

/// The scalar products of a row with columns, all of neighbouring elements.
fn write_dots(output: MatrixMut, a: Matrix, b: Matrix, accumulate: bool) {
    let (elements, a) = (output.elements, &a.elements[..a.columns]);
    vectorized!(for column in 0..b.columns {
        let b = &b.elements[column * b.column_stride..][..a.len()];
        let mut total = 0.0;
        for (a, b) in a.chunks(ELEMENTS_PER_PART).zip(b.chunks(ELEMENTS_PER_PART)) {
            total += f64::from(dot(a, b));
        }
        let (product, element) = (total as f32, &mut elements[column * output.column_stride]);
        *element = if accumulate { *element + product } else { product };
    });
}

/// `output = a · b`, or `output += a · b` if `accumulate`, of a row and a column of any strides.
fn write_strided_dot(output: &mut f32, a: Matrix, b: Matrix, accumulate: bool) {
    const SUMS: usize = 8;
    let part = |start: usize| {
        let mut sums = [0.0; SUMS];
        for l in start..a.columns.min(start + ELEMENTS_PER_PART) {
            sums[l % SUMS] += a.get(0, l) * b.get(l, 0);
        }
        f64::from(sums.iter().sum::<f32>())
    };
    let product = (0..a.columns).step_by(ELEMENTS_PER_PART).map(part).sum::<f64>() as f32;
    *output = if accumulate { *output + product } else { product };
}

/// `output = a b`, or `output += a b` if `accumulate`, of a column `a` and a row `b`.
fn write_multiples(output: MatrixMut, a: Matrix, b: &[f32], accumulate: bool) {
    vectorized!(for row in 0..a.rows {
        let (output, factor) = (&mut output.elements[row * output.row_stride..][..b.len()], a.get(row, 0));
        match accumulate {
            true => output.iter_mut().zip(b).for_each(|(output, b)| *output += factor * b),
            false => output.iter_mut().zip(b).for_each(|(output, b)| *output = factor * b),
        }
    });
}

/// Copies a few columns of `b` to rows of [`COLUMNS_PER_TILE`] lanes. Lanes without a column keep what they have;
/// nothing reads them.
fn copy_columns(rows: &mut [f32], b: Matrix, columns: Range<usize>) {
    let (rows, _) = rows.as_chunks_mut::<COLUMNS_PER_TILE>();
    for (l, row) in rows.iter_mut().enumerate() {
        let contiguous = &b.elements[l * b.row_stride + columns.start * b.column_stride..];
        if let (1, COLUMNS_PER_TILE, Some(contiguous)) = (b.column_stride, columns.len(), contiguous.first_chunk()) {
            *row = *contiguous;
            continue;
        }
        for (element, column) in row.iter_mut().zip(columns.clone()) {
            *element = b.get(l, column);
        }
    }
}

/// Writes a few columns of the product of `a` and of `b`, which holds these columns only.
fn write_columns(
    output: &mut MatrixMut,
    a: Matrix,
    b: &[[f32; COLUMNS_PER_TILE]],
    columns: Range<usize>,
    accumulate: bool,
) {
    let &mut MatrixMut { ref mut elements, rows, row_stride, column_stride, .. } = output;
    let mut put = |i: usize, sums: &[f32; COLUMNS_PER_TILE]| {
        let (row, sums) = (&mut elements[i * row_stride + columns.start * column_stride..], &sums[..columns.len()]);
        match (column_stride, accumulate) {
            (1, true) => row[..sums.len()].iter_mut().zip(sums).for_each(|(to, sum)| *to += sum),
            (1, false) => row[..sums.len()].copy_from_slice(sums),
            (_, true) => row.iter_mut().step_by(column_stride.max(1)).zip(sums).for_each(|(to, sum)| *to += sum),
            (_, false) => row.iter_mut().step_by(column_stride.max(1)).zip(sums).for_each(|(to, sum)| *to = *sum),
        }
    };
    vectorized!({
        for i in (0..rows).step_by(TILE_ROWS) {
            match rows - i {
                rest if rest < TILE_ROWS => {
                    for i in i..rows {
                        put(i, &multiply_rows::<1>(a, b, i)[0]);
                    }
                }
                _ => {
                    let sums = multiply_rows::<TILE_ROWS>(a, b, i);
                    sums.iter().enumerate().for_each(|(row, sums)| put(i + row, sums));
                }
            }
        }
    });
}

/// The columns that are computed at once: a vector of AVX-512, or two of AVX2.
const COLUMNS_PER_TILE: usize = 16;
/// The rows that are computed at once: enough independent sums to hide the latency of an addition.
const TILE_ROWS: usize = 4;

/// `ROWS` rows of `a b`, from row `start` on.
#[inline(always)]
fn multiply_rows<const ROWS: usize>(
    a: Matrix,
    b: &[[f32; COLUMNS_PER_TILE]],
    start: usize,
) -> [[f32; COLUMNS_PER_TILE]; ROWS] {
    a.check_bounds(start + ROWS, b.len());
    let mut sums = [[0.0; COLUMNS_PER_TILE]; ROWS];
    for (l, b) in b.iter().enumerate() {
        for (row, sums) in sums.iter_mut().enumerate() {
            #[allow(unsafe_code, reason = "a bounds check for each vector of multiply-adds")]
            // SAFETY: `row < ROWS` and `l < b.len()`, and these bounds are checked above.
            let factor = unsafe { a.get_unchecked(start + row, l) };
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += factor * b;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul::matrix::matmul_into;

    #[test]
    fn a_long_sum_is_exact_for_all_strides() {
        let len = 1 << 25;
        let threes = vec![3.0; len];
        for (stride, one_stride) in [(1, 1), (1, 0), (2, 0), (2, 1)] {
            let inner = len / stride;
            let a = Matrix::of_strides(&threes, [1, inner], [0, stride]);
            let b = Matrix::of_strides(&threes, [inner, 1], [one_stride, 0]);
            for [a, b] in [[a, b], [b.transposed(), a.transposed()]] {
                let mut sum = [0.0];
                matmul_small(MatrixMut::of_strides(&mut sum, [1, 1], [0, 0]), a, b, false, &mut Vec::new());
                assert_eq!(sum, [9.0 * inner as f32]);
            }
        }
    }

    #[test]
    fn agrees_with_gemm() {
        let number = |i: usize| ((i * 7919) % 31) as f32 - 15.0;
        let mut scratch = Vec::new();
        let few =
            [(1, 1, 1), (1, 1, 40), (2, 3, 5), (15, 15, 5), (15, 5, 15), (1, 9, 1), (7, 1, 1), (7, 1, 3), (1, 5, 0)];
        let few = few.into_iter().chain([(1, 33, 70), (5, 33, 2), (5, 33, 1), (33, 5, 1)]);
        for (m, n, k) in few.chain([(70, 65, 600), (3, 2, 0)]) {
            let a: Vec<f32> = (0..m * k).map(number).collect();
            let b: Vec<f32> = (0..k * n).map(|i| number(i + 3)).collect();
            for accumulate in [false, true] {
                for a in [Matrix::of_strides(&a, [m, k], [k, 1]), Matrix::of_strides(&a, [m, k], [1, m])] {
                    for b in [Matrix::of_strides(&b, [k, n], [n, 1]), Matrix::of_strides(&b, [k, n], [1, k])] {
                        for strides in [[n, 1], [1, m], [2 * n, 2]] {
                            let mut expected = vec![2.0; 2 * m * n];
                            let mut output = expected.clone();
                            let sizes = [m, n];
                            matmul_into(MatrixMut::of_strides(&mut expected, sizes, strides), a, b, accumulate);
                            let to = MatrixMut::of_strides(&mut output, sizes, strides);
                            matmul_small(to, a, b, accumulate, &mut scratch);
                            assert_eq!(output, expected, "{m} {n} {k} {strides:?} {accumulate}");
                        }
                    }
                }
            }
        }
    }
}
