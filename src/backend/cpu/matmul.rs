use gemm_common::Parallelism;
use pulp::Simd;

/// A matrix in memory: its elements, and how far apart rows and columns lie, counted in what it is a
/// matrix of: numbers, or vectors of them side by side.
#[derive(Clone, Copy)]
pub struct Matrix<'a, Element = f32> {
    elements: &'a [Element],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, Element: Copy> Matrix<'a, Element> {
    /// Rows one after the other.
    ///
    /// # Panics
    /// If the number of elements is another.
    pub fn new(elements: &'a [Element], rows: usize, columns: usize) -> Self {
        assert_eq!(elements.len(), rows * columns);
        Self::strided(elements, rows, columns, columns)
    }

    /// Rows that begin `row_stride` elements apart.
    ///
    /// # Panics
    /// If the last row reaches further than the elements.
    #[inline(always)]
    pub fn strided(elements: &'a [Element], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(rows == 0 || (rows - 1) * row_stride + columns <= elements.len());
        Self { elements, rows, columns, row_stride, column_stride: 1 }
    }

    /// The number of rows.
    #[inline(always)]
    pub fn rows(self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[inline(always)]
    pub fn columns(self) -> usize {
        self.columns
    }

    /// One element.
    #[inline(always)]
    pub fn at(self, row: usize, column: usize) -> Element {
        self.elements[row * self.row_stride + column * self.column_stride]
    }

    /// Its rows, if the elements of each lie one after the other.
    #[inline(always)]
    pub fn contiguous_rows(self) -> Option<impl Iterator<Item = &'a [Element]>> {
        let row = move |row| &self.elements[row * self.row_stride..][..self.columns];
        (self.column_stride == 1).then(|| (0..self.rows).map(row))
    }

    /// The same elements with rows and columns exchanged.
    #[inline(always)]
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

impl<'a> Matrix<'a> {
    /// The same of vectors, if it was in them that rows and columns were counted.
    #[inline(always)]
    pub fn of_vectors<S: Simd>(self) -> Matrix<'a, S::f32s> {
        Matrix {
            elements: S::as_simd_f32s(self.elements).0,
            rows: self.rows,
            columns: self.columns,
            row_stride: self.row_stride,
            column_stride: self.column_stride,
        }
    }
}

/// `output = a b`, or `output += a b` if `accumulate`; `output` has its rows one after the other.
///
/// # Panics
/// If the dimensions do not fit.
pub fn matmul(output: &mut [f32], a: Matrix, b: Matrix, accumulate: bool) {
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert_eq!(k, b.rows);
    assert_eq!(output.len(), m * n);
    if output.is_empty() {
        return;
    }
    let stride = |stride: usize| stride as isize;
    #[allow(unsafe_code, reason = "gemm takes pointers")]
    // SAFETY: `Matrix` can only be made so that its strides reach no further than its elements, and
    // `output` was compared with its dimensions above. `output` is borrowed mutably, so that it
    // overlaps neither operand.
    unsafe {
        // gemm is fastest on columns one after the other, so it computes `outputᵀ = bᵀ aᵀ`.
        gemm_f32::gemm::f32::get_gemm_fn()(
            n,
            m,
            k,
            output.as_mut_ptr(),
            stride(n),
            1,
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
    fn every_layout_agrees_with_the_definition() {
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
