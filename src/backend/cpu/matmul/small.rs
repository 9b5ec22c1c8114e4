use super::{Matrix, matrix::MatrixMut};
use crate::backend::cpu::simd::{dispatch_simd, dot};

/// The most multiply-adds of a product that takes less time here than gemm takes to pack its operands.
const MAX_MACS: usize = 1 << 13;

/// Whether [`matmul_small`] is faster than gemm for `(m, k), (k, n) -> (m, n)`.
pub fn is_small(m: usize, n: usize, k: usize) -> bool {
    // A scalar product or the multiple of a vector reads each element once.
    m * n * k <= MAX_MACS || m * n == 1 || (m.min(n) == 1 && k == 1)
}

/// `output = a b`, or `output += a b` if `accumulate`, for small matrices of any strides. `scratch` is memory that the
/// next product can use again.
///
/// # Panics
/// If the dimensions are inconsistent.
pub fn matmul_small(output: MatrixMut, a: Matrix, b: Matrix, accumulate: bool, scratch: &mut Vec<f32>) {
    assert_eq!((output.rows, output.columns, a.columns), (a.rows, b.columns, b.rows));
    // Vectors along the columns of the output, if they are neighbours.
    if output.column_stride != 1 && output.row_stride == 1 && output.rows > 1 || output.columns == 1 {
        return add_rows(output.transposed(), b.transposed(), a.transposed(), accumulate, scratch);
    }
    add_rows(output, a, b, accumulate, scratch);
}

fn add_rows(output: MatrixMut, a: Matrix, b: Matrix, accumulate: bool, scratch: &mut Vec<f32>) {
    let MatrixMut { elements: output, rows, columns, row_stride, column_stride } = output;
    let inner = a.columns;
    if rows * columns == 1 && (a.column_stride, b.row_stride) == (1, 1) {
        let product = dispatch_simd(
            #[inline(always)]
            || dot(&a.elements[..inner], &b.elements[..inner]),
        );
        output[0] = if accumulate { output[0] + product } else { product };
        return;
    }
    // The rows of `b`, each with neighbouring elements, and memory for a row of the output.
    let (copied, in_place) = (b.column_stride != 1, column_stride == 1);
    scratch.clear();
    scratch.resize(if copied { inner * columns } else { 0 } + if in_place { 0 } else { columns }, 0.0);
    let (b_rows, row) = scratch.split_at_mut(if copied { inner * columns } else { 0 });
    let b = match copied {
        true => {
            for (l, to) in b_rows.chunks_exact_mut(columns).enumerate() {
                to.iter_mut().enumerate().for_each(|(column, to)| *to = b.get(l, column));
            }
            Matrix::new(b_rows, inner, columns)
        }
        false => b,
    };
    dispatch_simd(
        #[inline(always)]
        || {
            for i in 0..rows {
                let output = &mut output[i * row_stride..];
                let sum = if in_place { &mut output[..columns] } else { &mut row[..] };
                if !(in_place && accumulate) {
                    sum.fill(0.0);
                }
                for l in 0..inner {
                    let (factor, b) = (a.get(i, l), &b.elements[l * b.row_stride..][..columns]);
                    sum.iter_mut().zip(b).for_each(|(sum, b)| *sum += factor * b);
                }
                if !in_place {
                    for (to, sum) in output.iter_mut().step_by(column_stride).zip(&*row) {
                        *to = if accumulate { *to + sum } else { *sum };
                    }
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::matmul::gemm::matmul_into;

    #[test]
    fn agrees_with_gemm() {
        let number = |i: usize| ((i * 7919) % 31) as f32 - 15.0;
        let mut scratch = Vec::new();
        for (m, n, k) in [(1, 1, 1), (1, 1, 40), (2, 3, 5), (15, 15, 5), (15, 5, 15), (1, 9, 1), (7, 1, 1), (7, 1, 3)] {
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
