//! Views of matrices of any strides, and their product by gemm.

use super::small_contraction::matmul_small;
use crate::autograd::SumsInParts;
use crate::simd::ElementOps;
use gemm_common::Parallelism;
use gemm_f32::gemm::f32::get_gemm_fn;
use std::ops::{Deref, Range};
use std::{fs, path::Path, sync::LazyLock};

/// A view of a matrix. Strides count elements, each an `f32` or a vector.
#[derive(Clone, Copy)]
pub struct View<Elements> {
    pub(super) elements: Elements,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: usize,
    pub(super) column_stride: usize,
}

/// A matrix to read.
pub type Matrix<'a, Element = f32> = View<&'a [Element]>;
/// A matrix to write to.
pub type MatrixMut<'a> = View<&'a mut [f32]>;

impl<Elements: Deref<Target = [Element]>, Element> View<Elements> {
    /// Rows and columns that start as far apart as the two strides say.
    ///
    /// # Panics
    /// If the last element is beyond the elements.
    pub fn of_strides(elements: Elements, sizes: [usize; 2], strides: [usize; 2]) -> Self {
        let ([rows, columns], [row_stride, column_stride]) = (sizes, strides);
        let is_empty = rows == 0 || columns == 0;
        assert!(is_empty || (rows - 1) * row_stride + (columns - 1) * column_stride < elements.len());
        Self { elements, rows, columns, row_stride, column_stride }
    }

    #[inline(always)]
    pub fn transposed(self) -> Self {
        let Self { elements, rows, columns, row_stride, column_stride } = self;
        Self { elements, rows: columns, columns: rows, row_stride: column_stride, column_stride: row_stride }
    }
}

impl<'a, Element: Copy> Matrix<'a, Element> {
    /// Contiguous rows.
    ///
    /// # Panics
    /// If there are not `rows * columns` elements.
    pub fn new(elements: &'a [Element], rows: usize, columns: usize) -> Self {
        assert_eq!(elements.len(), rows * columns);
        Self::strided(elements, rows, columns, columns)
    }

    /// Rows that start `row_stride` elements apart.
    ///
    /// # Panics
    /// If the last row reaches beyond the elements.
    #[inline(always)]
    pub fn strided(elements: &'a [Element], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(rows == 0 || (rows - 1) * row_stride + columns <= elements.len());
        Self { elements, rows, columns, row_stride, column_stride: 1 }
    }

    #[inline(always)]
    pub fn rows(self) -> usize {
        self.rows
    }

    #[inline(always)]
    pub fn columns(self) -> usize {
        self.columns
    }

    #[inline(always)]
    pub fn get(self, row: usize, column: usize) -> Element {
        self.elements[row * self.row_stride + column * self.column_stride]
    }

    /// Checks that [`get_unchecked`](Self::get_unchecked) may read the first `rows` rows and `columns` columns.
    #[inline(always)]
    pub fn check_bounds(self, rows: usize, columns: usize) {
        if rows > 0 && columns > 0 {
            assert!((rows - 1) * self.row_stride + (columns - 1) * self.column_stride < self.elements.len());
        }
    }

    /// [`get`](Self::get) without a check of the bounds, for loops in which the check takes as long as the arithmetic.
    ///
    /// # Safety
    /// [`check_bounds`](Self::check_bounds) has passed for more than `row` rows and more than `column` columns.
    #[inline(always)]
    #[allow(unsafe_code, reason = "a bounds check for each multiply-add")]
    pub unsafe fn get_unchecked(self, row: usize, column: usize) -> Element {
        // SAFETY: the index grows with the row and with the column, and `check_bounds` compared that of a later or
        // equal row and column with the length.
        unsafe { *self.elements.get_unchecked(row * self.row_stride + column * self.column_stride) }
    }

    /// The rows as slices, if each is contiguous.
    #[inline(always)]
    pub fn contiguous_rows(self) -> Option<impl Iterator<Item = &'a [Element]>> {
        let row = move |row| &self.elements[row * self.row_stride..][..self.columns];
        (self.column_stride == 1).then(|| (0..self.rows).map(row))
    }

    #[inline(always)]
    pub fn row_range(self, rows: Range<usize>) -> Self {
        // Without columns the elements of the last row may start beyond the end.
        let elements = self.elements.get(rows.start * self.row_stride..).unwrap_or_default();
        Self { elements, rows: rows.len(), ..self }
    }

    #[inline(always)]
    pub fn column_range(self, columns: Range<usize>) -> Self {
        self.transposed().row_range(columns).transposed()
    }
}

impl<'a> Matrix<'a> {
    /// The same view with elements of `C`. The strides must already be in such elements.
    #[inline(always)]
    pub fn as_elements<C: ElementOps>(self) -> Matrix<'a, C::Element> {
        let Self { elements, rows, columns, row_stride, column_stride } = self;
        Matrix { elements: C::elements(elements), rows, columns, row_stride, column_stride }
    }
}

/// `(m, k), (k, n) -> (m, n)`: `output = a b`, or `output += a b` if `accumulate`; the rows of `output` are contiguous.
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
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert_eq!((k, m, n), (b.rows, output.rows, output.columns));
    // gemm has one sum of all terms of a product with a vector if the strides are these, as `matmul_small` has. With
    // others it has blocks of 512 terms or several sums, and shorter parts would be slower.
    let is_one_sum = !gemm_runs() || m == 1 && b.column_stride == 1 || n == 1 && a.row_stride == 1;
    let terms_per_part = if is_one_sum { 1 << 6 } else { 1 << 12 };
    if m.min(n) == 1 && k > 8 * terms_per_part {
        return multiply_in_parts(output, a, b, accumulate, terms_per_part);
    }
    if !gemm_runs() {
        return matmul_small(output, a, b, accumulate, &mut Vec::new());
    }
    // gemm writes whole vectors only if rows of `output` are contiguous. The transposed product exchanges the strides.
    if output.row_stride == 1 && output.column_stride > 1 {
        return matmul_into(output.transposed(), b.transposed(), a.transposed(), accumulate);
    }
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
            // The callers divide products among threads.
            Parallelism::None,
        );
    }
}

/// [`matmul_into`] of a vector and a matrix, for a long sum: adding to a large sum rounds more.
fn multiply_in_parts(output: MatrixMut, a: Matrix, b: Matrix, accumulate: bool, terms_per_part: usize) {
    let (m, n) = (a.rows, b.columns);
    let mut sums = SumsInParts::zeros(m * n);
    for start in (0..a.columns).step_by(terms_per_part) {
        let terms = start..a.columns.min(start + terms_per_part);
        let part = sums.part_for(terms.len() * m * n);
        matmul(part, a.column_range(terms.clone()), b.row_range(terms), true);
    }
    for (i, sum) in sums.into_total().iter().enumerate() {
        let element = &mut output.elements[i / n * output.row_stride + i % n * output.column_stride];
        *element = if accumulate { *element + sum } else { *sum };
    }
}

/// Whether gemm 0.19 runs on this processor. It panics if there is FMA without AVX2, and on Linux if there is a fourth
/// level of cache (<https://github.com/sarah-quinones/gemm/pull/28>).
fn gemm_runs() -> bool {
    static RUNS: LazyLock<bool> = LazyLock::new(|| {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if is_x86_feature_detected!("fma") && !is_x86_feature_detected!("avx2") {
            return false;
        }
        !has_fourth_level(Path::new("/sys/devices/system/cpu/cpu0/cache"))
    });
    *RUNS
}

/// Whether one of the caches that Linux describes in a folder is of a level above 3.
fn has_fourth_level(caches: &Path) -> bool {
    let level = |index: usize| fs::read_to_string(caches.join(format!("index{index}/level"))).ok();
    (0..).map_while(level).any(|level| level.trim() > "3")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process};

    #[test]
    fn a_fourth_level_of_cache_is_found() {
        let caches = env::temp_dir().join(format!("typed_transformer_caches_{}", process::id()));
        assert!(!has_fourth_level(&caches));
        for (index, level) in ["1\n", "1\n", "2\n", "3\n", "4\n"].into_iter().enumerate() {
            fs::create_dir_all(caches.join(format!("index{index}"))).unwrap();
            fs::write(caches.join(format!("index{index}/level")), level).unwrap();
            assert_eq!(has_fourth_level(&caches), index == 4);
        }
        fs::remove_dir_all(caches).unwrap();
    }

    #[test]
    fn a_long_sum_of_a_vector_and_a_matrix_is_precise() {
        let (n, k) = (3, 1_000_000);
        let (ones, tenths) = (vec![1.0; k], vec![0.1; n * k]);
        let (row, rows, columns) = (Matrix::new(&ones, 1, k), Matrix::new(&tenths, k, n), Matrix::new(&tenths, n, k));
        let products = [
            (row, rows),
            (rows.transposed(), row.transposed()),
            (row, columns.transposed()),
            (columns, row.transposed()),
        ];
        for (a, b) in products {
            let mut output = vec![f32::NAN; n];
            matmul(&mut output, a, b, false);
            matmul(&mut output, a, b, true);
            assert!(output.iter().all(|sum| (sum / k as f32 - 0.2).abs() < 4e-7), "{output:?}");
        }
    }

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
