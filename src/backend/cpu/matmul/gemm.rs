use super::{Matrix, matrix::MatrixMut};
use gemm_common::Parallelism;
use gemm_f32::gemm::f32::get_gemm_fn;

/// `(m, k), (k, n) -> (m, n)`: `output = a b`, or `output += a b` if `accumulate`; the rows of `output` are
/// contiguous.
///
/// # Panics
/// If the dimensions are inconsistent.
pub fn matmul(output: &mut [f32], a: Matrix, b: Matrix, accumulate: bool) {
    let (m, n) = (a.rows, b.columns);
    assert_eq!(output.len(), m * n);
    if !output.is_empty() {
        matmul_into(MatrixMut::of_strides(output, [m, n], [n, 1]), a, b, accumulate);
    }
}

/// [`matmul`] with an output of any strides, in which no element stands for two indices.
///
/// # Panics
/// If the dimensions are inconsistent.
pub fn matmul_into(output: MatrixMut, a: Matrix, b: Matrix, accumulate: bool) {
    // gemm writes whole vectors only if rows of `output` are contiguous. The transposed product exchanges the strides.
    if output.row_stride == 1 && output.column_stride > 1 {
        return matmul_into(output.transposed(), b.transposed(), a.transposed(), accumulate);
    }
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert_eq!((k, m, n), (b.rows, output.rows, output.columns));
    let stride = |stride: usize| stride as isize;
    #[allow(unsafe_code, reason = "gemm takes pointers")]
    // SAFETY: the constructors of `Matrix` and `MatrixMut` ensure that their strides stay within their elements. The
    // elements of `output` are borrowed mutably, so they overlap neither operand.
    unsafe {
        // gemm calls what is contiguous a column, so it computes `outputᵀ = bᵀ aᵀ`.
        get_gemm_fn()(
            n,
            m,
            k,
            output.elements.as_mut_ptr(),
            stride(output.row_stride),
            stride(output.column_stride),
            accumulate,
            b.elements.as_ptr(),
            stride(b.row_stride),
            stride(b.column_stride),
            a.elements.as_ptr(),
            stride(a.row_stride),
            stride(a.column_stride),
            1.0,
            1.0,
            false,
            false,
            false,
            // The callers split the rows over threads.
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_strides_agree_with_the_definition() {
        let number = |i: usize| ((i * 7919) % 31) as f32 - 15.0;
        for (m, n, k) in [(1, 1, 1), (2, 3, 5), (7, 1, 4), (5, 17, 0), (33, 19, 64)] {
            let a: Vec<f32> = (0..m * k).map(number).collect();
            let b: Vec<f32> = (0..k * n).map(number).collect();
            let a_columns: Vec<f32> = (0..k * m).map(|i| a[(i % m) * k + i / m]).collect();
            let b_columns: Vec<f32> = (0..n * k).map(|i| b[(i % k) * n + i / k]).collect();
            for accumulate in [false, true] {
                let start = if accumulate { 2.0 } else { 0.0 };
                let expected: Vec<f32> = (0..m * n)
                    .map(|i| start + (0..k).map(|l| a[i / n * k + l] * b[l * n + i % n]).sum::<f32>())
                    .collect();
                for a in [Matrix::new(&a, m, k), Matrix::new(&a_columns, k, m).transposed()] {
                    for b in [Matrix::new(&b, k, n), Matrix::new(&b_columns, n, k).transposed()] {
                        let mut output = vec![2.0; m * n];
                        matmul(&mut output, a, b, accumulate);
                        assert_eq!(output, expected);
                    }
                }
            }
        }
    }
}
