use super::Matrix;
use crate::simd::ElementOps;
use pulp::{NullaryFnOnce, Simd};
use std::ops::Range;

/// The part of a product that is needed for some rows.
pub struct Extent {
    /// The columns of `a`, which are the rows of `b`, to sum over. Elsewhere `a` is 0.
    pub inner: Range<usize>,
    /// The number of columns to compute. A column is one vector wide.
    pub columns: usize,
}

/// `out = a b`, or `out += a b` if `accumulate`, vector by vector, without a sum across lanes. The strides of `a` and
/// `b` count elements of their `ElementOps`. Rows of `out` start `stride` vectors apart. `extent` limits the product
/// for a range of rows; the rest of `out` is unchanged.
#[inline(always)]
pub fn multiply<S: Simd, A: ElementOps<Simd = S>, B: ElementOps<Simd = S>>(
    simd: S,
    out: &mut [S::f32s],
    stride: usize,
    accumulate: bool,
    (a_ops, a): (A, Matrix),
    (b_ops, b): (B, Matrix),
    extent: &dyn Fn(Range<usize>) -> Extent,
) {
    let (ops, a, b) = ((a_ops, b_ops), a.as_elements::<A>(), b.as_elements::<B>());
    // A separate function, because inlining the tiles into every kernel would take most of the build time.
    simd.vectorize(Multiply { out, stride, accumulate, ops, a, b, extent });
}

/// The arguments of [`multiply`].
struct Multiply<'a, A: ElementOps, B: ElementOps> {
    out: &'a mut [<A::Simd as Simd>::f32s],
    stride: usize,
    accumulate: bool,
    ops: (A, B),
    a: Matrix<'a, A::Element>,
    b: Matrix<'a, B::Element>,
    extent: &'a dyn Fn(Range<usize>) -> Extent,
}

impl<A: ElementOps, B: ElementOps<Simd = A::Simd>> NullaryFnOnce for Multiply<'_, A, B> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        for row in (0..self.a.rows()).step_by(Self::TILE_ROWS) {
            match (self.a.rows() - row).min(Self::TILE_ROWS) {
                1 => self.multiply_rows::<1>(row),
                2 => self.multiply_rows::<2>(row),
                3 => self.multiply_rows::<3>(row),
                4 => self.multiply_rows::<4>(row),
                5 => self.multiply_rows::<5>(row),
                _ => self.multiply_rows::<6>(row),
            }
        }
    }
}

impl<A: ElementOps, B: ElementOps<Simd = A::Simd>> Multiply<'_, A, B> {
    const HAS_32_REGISTERS: bool = <A::Simd as Simd>::REGISTER_COUNT >= 32;
    /// A register tile has enough independent sums to hide the latency of an addition, and fits into the registers
    /// with the elements that it reads.
    const TILE_ROWS: usize = if Self::HAS_32_REGISTERS { 4 } else { 6 };
    /// The columns of a register tile, in vectors.
    const TILE_COLUMNS: usize = if Self::HAS_32_REGISTERS { 4 } else { 2 };

    /// The rows `row..row + ROWS` of the product.
    #[inline(always)]
    fn multiply_rows<const ROWS: usize>(&mut self, row: usize) {
        // The compiler would also make tiles of more rows than these registers hold, and drop them late.
        if const { ROWS > Self::TILE_ROWS } {
            unreachable!("a tile has at most `TILE_ROWS` rows");
        }
        let Extent { inner, columns } = (self.extent)(row..row + ROWS);
        let mut column = 0;
        while column < columns {
            macro_rules! columns {
                ($columns:literal) => {{
                    self.multiply_tile::<ROWS, $columns>(row, column, inner.clone());
                    column += $columns;
                }};
            }
            match (columns - column).min(Self::TILE_COLUMNS) {
                1 => columns!(1),
                2 => columns!(2),
                3 => columns!(3),
                _ => columns!(4),
            }
        }
    }

    /// A tile of the product. Vectors are written by hand; auto-vectorization would go along rows instead of columns.
    #[inline(always)]
    fn multiply_tile<const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        row: usize,
        column: usize,
        inner: Range<usize>,
    ) {
        if const { COLUMNS > Self::TILE_COLUMNS } {
            unreachable!("a tile has at most `TILE_COLUMNS` columns");
        }
        let (out, stride, accumulate) = (&mut *self.out, self.stride, self.accumulate);
        let ((a_ops, b_ops), a, b) = (self.ops, self.a, self.b);
        let simd = a_ops.simd();
        a.check_bounds(row + ROWS, inner.end);
        b.check_bounds(inner.end, column + COLUMNS);
        let mut sums = [[simd.splat_f32s(0.0); COLUMNS]; ROWS];
        for k in inner {
            let mut b_row = [simd.splat_f32s(0.0); COLUMNS];
            for (j, element) in b_row.iter_mut().enumerate() {
                #[allow(unsafe_code, reason = "a bounds check for each multiply-add")]
                // SAFETY: `k < inner.end` and `j < COLUMNS`, and these bounds are checked above.
                let b = b_ops.to_vector(unsafe { b.get_unchecked(k, column + j) });
                *element = b;
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                #[allow(unsafe_code, reason = "a bounds check for each multiply-add")]
                // SAFETY: `i < ROWS` and `k < inner.end`, and these bounds are checked above.
                let a = a_ops.to_vector(unsafe { a.get_unchecked(row + i, k) });
                for (sum, b) in sums.iter_mut().zip(b_row) {
                    *sum = simd.mul_add_e_f32s(a, b, *sum);
                }
            }
        }
        for (i, sums) in sums.into_iter().enumerate() {
            let out = &mut out[(row + i) * stride + column..][..COLUMNS];
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = if accumulate { simd.add_f32s(*out, sum) } else { sum };
            }
        }
    }
}
