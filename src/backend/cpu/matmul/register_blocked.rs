use super::Matrix;
use crate::backend::cpu::simd::Context;
use pulp::Simd;
use std::ops::Range;

/// A matrix operand of [`multiply`] whose elements are read as vectors.
#[derive(Clone, Copy)]
pub struct SimdMatrix<'a, C: Context> {
    context: C,
    matrix: Matrix<'a, C::Element>,
}

impl<'a, C: Context> SimdMatrix<'a, C> {
    /// Elements of the context; the strides of `matrix` count those.
    #[inline(always)]
    pub fn new(context: C, matrix: Matrix<'a>) -> Self {
        Self { context, matrix: matrix.as_elements::<C>() }
    }

    #[inline(always)]
    pub fn rows(self) -> usize {
        self.matrix.rows()
    }

    #[inline(always)]
    fn get(self, row: usize, column: usize) -> <C::Simd as Simd>::f32s {
        self.context.to_vector(self.matrix.get(row, column))
    }
}

/// The part of a product that is needed for some rows.
pub struct Extent {
    /// The columns of `a`, and rows of `b`, to sum over; elsewhere `a` is 0.
    pub inner: Range<usize>,
    /// The number of columns to compute.
    pub columns: usize,
}

/// Rows of a register tile. A tile has enough sums that an addition need not wait for the one before it,
/// and uses each element it reads several times.
const TILE_ROWS: usize = 4;

/// `out = a b`, or `out += a b` if `ACCUMULATE`, vector by vector, without a sum across lanes.
/// Rows of `out` start `stride` vectors apart. `extent` limits the product for a range of rows; the
/// rest of `out` is left as it is.
#[inline(always)]
pub fn multiply<S: Simd, A: Context<Simd = S>, B: Context<Simd = S>, const ACCUMULATE: bool>(
    simd: S,
    out: &mut [S::f32s],
    stride: usize,
    a: SimdMatrix<A>,
    b: SimdMatrix<B>,
    extent: impl Fn(Range<usize>) -> Extent,
) {
    for row in (0..a.rows()).step_by(TILE_ROWS) {
        let out = &mut out[row * stride..];
        let rows = TILE_ROWS.min(a.rows() - row);
        let extent = extent(row..row + rows);
        macro_rules! rows {
            ($rows:literal) => {
                multiply_rows::<S, A, B, ACCUMULATE, $rows>(simd, out, stride, a, row, b, extent)
            };
        }
        match rows {
            1 => rows!(1),
            2 => rows!(2),
            3 => rows!(3),
            _ => rows!(4),
        }
    }
}

/// [`multiply`] for `ROWS` rows.
#[inline(always)]
fn multiply_rows<
    S: Simd,
    A: Context<Simd = S>,
    B: Context<Simd = S>,
    const ACCUMULATE: bool,
    const ROWS: usize,
>(
    simd: S,
    out: &mut [S::f32s],
    stride: usize,
    a: SimdMatrix<A>,
    row: usize,
    b: SimdMatrix<B>,
    Extent { inner, columns }: Extent,
) {
    let mut column = 0;
    while column < columns {
        let out = &mut out[column..];
        let inner = inner.clone();
        macro_rules! columns {
            ($columns:literal) => {{
                multiply_tile::<S, A, B, ACCUMULATE, ROWS, $columns>(
                    simd, out, stride, a, row, b, column, inner,
                );
                column += $columns;
            }};
        }
        match columns - column {
            1 => columns!(1),
            2 => columns!(2),
            3 => columns!(3),
            _ => columns!(4),
        }
    }
}

/// [`multiply`] for a tile. The vectors are explicit: the compiler would make them of neighbouring rows
/// instead of neighbouring columns.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn multiply_tile<
    S: Simd,
    A: Context<Simd = S>,
    B: Context<Simd = S>,
    const ACCUMULATE: bool,
    const ROWS: usize,
    const COLUMNS: usize,
>(
    simd: S,
    out: &mut [S::f32s],
    stride: usize,
    a: SimdMatrix<A>,
    row: usize,
    b: SimdMatrix<B>,
    column: usize,
    inner: Range<usize>,
) {
    let mut sums = [[simd.splat_f32s(0.0); COLUMNS]; ROWS];
    for k in inner {
        let mut b_row = [simd.splat_f32s(0.0); COLUMNS];
        for (j, element) in b_row.iter_mut().enumerate() {
            *element = b.get(k, column + j);
        }
        for (i, sums) in sums.iter_mut().enumerate() {
            let a = a.get(row + i, k);
            for (sum, b) in sums.iter_mut().zip(b_row) {
                *sum = simd.mul_add_e_f32s(a, b, *sum);
            }
        }
    }
    for (i, sums) in sums.into_iter().enumerate() {
        for (out, sum) in out[i * stride..][..COLUMNS].iter_mut().zip(sums) {
            *out = match ACCUMULATE {
                true => simd.add_f32s(*out, sum),
                false => sum,
            };
        }
    }
}
