use std::ops::Range;

use crate::simd::ElementOps;

/// A view of a matrix. Strides count elements, each an `f32` or a vector.
#[derive(Clone, Copy)]
pub struct Matrix<'a, Element = f32> {
    pub(super) elements: &'a [Element],
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: usize,
    pub(super) column_stride: usize,
}

/// A matrix to write to. Strides count elements.
pub struct MatrixMut<'a> {
    pub(super) elements: &'a mut [f32],
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: usize,
    pub(super) column_stride: usize,
}

impl<'a> MatrixMut<'a> {
    /// Rows and columns that start as far apart as the two strides say.
    ///
    /// # Panics
    /// If the last element is beyond the elements.
    pub fn of_strides(elements: &'a mut [f32], sizes: [usize; 2], strides: [usize; 2]) -> Self {
        assert!(fits(elements.len(), sizes, strides));
        let ([rows, columns], [row_stride, column_stride]) = (sizes, strides);
        Self { elements, rows, columns, row_stride, column_stride }
    }

    pub fn transposed(self) -> Self {
        let (sizes, strides) = ([self.columns, self.rows], [self.column_stride, self.row_stride]);
        Self::of_strides(self.elements, sizes, strides)
    }
}

/// Whether all elements of a matrix are among `len` elements.
fn fits(len: usize, [rows, columns]: [usize; 2], [row_stride, column_stride]: [usize; 2]) -> bool {
    rows == 0 || columns == 0 || (rows - 1) * row_stride + (columns - 1) * column_stride < len
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

    /// Rows and columns that start as far apart as the two strides say.
    ///
    /// # Panics
    /// If the last element is beyond the elements.
    pub fn of_strides(elements: &'a [Element], sizes: [usize; 2], strides: [usize; 2]) -> Self {
        assert!(fits(elements.len(), sizes, strides));
        let ([rows, columns], [row_stride, column_stride]) = (sizes, strides);
        Self { elements, rows, columns, row_stride, column_stride }
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
    pub fn transposed(self) -> Self {
        let Self { elements, rows, columns, row_stride, column_stride } = self;
        Self { elements, rows: columns, columns: rows, row_stride: column_stride, column_stride: row_stride }
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
