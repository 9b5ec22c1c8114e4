//! Products of small matrices of which each element is a vector: as many products of numbers at once,
//! each in a lane of its own, and no sum is made across lanes.

use super::matmul::Matrix;
use pulp::{Simd, WithSimd};

/// `output = a b`, `+ bias`, `+ output`: each element of `output` and `a` is a vector.
pub struct Product<'a> {
    pub output: &'a mut [f32],
    /// How many vectors apart the rows of `output` begin.
    pub stride: usize,
    pub a: Matrix<'a>,
    pub b: Factor<'a>,
    /// A number for each column of `output`, the same in all lanes.
    pub bias: Option<&'a [f32]>,
    pub accumulate: bool,
}

/// What the vectors are multiplied with.
#[derive(Clone, Copy)]
pub enum Factor<'a> {
    /// Numbers that are the same in all lanes.
    Numbers(Matrix<'a>),
    /// Vectors.
    Vectors(Matrix<'a>),
}

/// A matrix whose elements can be had as vectors.
trait Vectors<S: Simd>: Copy {
    fn at(self, simd: S, row: usize, column: usize) -> S::f32s;
}

/// A matrix of numbers, each of which is put in all lanes.
#[derive(Clone, Copy)]
struct Splat<'a>(Matrix<'a>);

impl<S: Simd> Vectors<S> for Splat<'_> {
    #[inline(always)]
    fn at(self, simd: S, row: usize, column: usize) -> S::f32s {
        simd.splat_f32s(self.0.at(row, column))
    }
}

impl<S: Simd> Vectors<S> for Matrix<'_, S::f32s> {
    #[inline(always)]
    fn at(self, _: S, row: usize, column: usize) -> S::f32s {
        Matrix::at(self, row, column)
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let a = self.a.of_vectors::<S>();
        let to = To {
            output: S::as_mut_simd_f32s(self.output).0,
            stride: self.stride,
            bias: self.bias,
            accumulate: self.accumulate,
        };
        match self.b {
            Factor::Numbers(b) => multiply(simd, to, a, Splat(b), b.columns()),
            Factor::Vectors(b) => multiply(simd, to, a, b.of_vectors::<S>(), b.columns()),
        }
    }
}

/// Where a product goes.
struct To<'a, V> {
    output: &'a mut [V],
    stride: usize,
    bias: Option<&'a [f32]>,
    accumulate: bool,
}

/// Rows and columns of the blocks whose sums stay in registers: so many sums that an addition need not
/// wait for the one before it, and that what is read is used several times.
const BLOCK: usize = 4;

#[inline(always)]
fn multiply<S: Simd>(
    simd: S,
    mut to: To<S::f32s>,
    a: Matrix<S::f32s>,
    b: impl Vectors<S>,
    columns: usize,
) {
    for row in (0..a.rows()).step_by(BLOCK) {
        match a.rows() - row {
            1 => multiply_rows::<S, 1>(simd, &mut to, a, row, b, columns),
            2 => multiply_rows::<S, 2>(simd, &mut to, a, row, b, columns),
            3 => multiply_rows::<S, 3>(simd, &mut to, a, row, b, columns),
            _ => multiply_rows::<S, BLOCK>(simd, &mut to, a, row, b, columns),
        }
    }
}

#[inline(always)]
fn multiply_rows<S: Simd, const ROWS: usize>(
    simd: S,
    to: &mut To<S::f32s>,
    a: Matrix<S::f32s>,
    row: usize,
    b: impl Vectors<S>,
    columns: usize,
) {
    for column in (0..columns).step_by(BLOCK) {
        match columns - column {
            1 => multiply_block::<S, ROWS, 1>(simd, to, a, row, b, column),
            2 => multiply_block::<S, ROWS, 2>(simd, to, a, row, b, column),
            3 => multiply_block::<S, ROWS, 3>(simd, to, a, row, b, column),
            _ => multiply_block::<S, ROWS, BLOCK>(simd, to, a, row, b, column),
        }
    }
}

#[inline(always)]
fn multiply_block<S: Simd, const ROWS: usize, const COLUMNS: usize>(
    simd: S,
    to: &mut To<S::f32s>,
    a: Matrix<S::f32s>,
    row: usize,
    b: impl Vectors<S>,
    column: usize,
) {
    let mut sums = [[simd.splat_f32s(0.0); COLUMNS]; ROWS];
    for inner in 0..a.columns() {
        let mut factors = [simd.splat_f32s(0.0); COLUMNS];
        for (j, factor) in factors.iter_mut().enumerate() {
            *factor = b.at(simd, inner, column + j);
        }
        for (i, sums) in sums.iter_mut().enumerate() {
            let a = a.at(row + i, inner);
            for (sum, factor) in sums.iter_mut().zip(factors) {
                *sum = simd.mul_add_e_f32s(a, factor, *sum);
            }
        }
    }
    for (i, sums) in sums.iter_mut().enumerate() {
        if let Some(bias) = to.bias {
            for (sum, bias) in sums.iter_mut().zip(&bias[column..]) {
                *sum = simd.add_f32s(*sum, simd.splat_f32s(*bias));
            }
        }
        let output = &mut to.output[(row + i) * to.stride + column..][..COLUMNS];
        if to.accumulate {
            for (sum, output) in sums.iter_mut().zip(output.iter()) {
                *sum = simd.add_f32s(*sum, *output);
            }
        }
        output.copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::layout::lanes, *};
    use pulp::Arch;

    /// Element by element and lane by lane, of whole numbers, so that no sum is rounded.
    #[test]
    fn every_lane_is_a_product_of_its_own() {
        let lanes = lanes();
        let number = |i: usize| ((i * 7919) % 31) as f32 - 15.0;
        for (m, n, k) in [(1, 1, 1), (2, 3, 5), (7, 5, 4), (4, 8, 3), (5, 1, 0), (9, 6, 11)] {
            let a: Vec<f32> = (0..m * k * lanes).map(number).collect();
            let b: Vec<f32> = (0..k * n * lanes).map(|i| number(i + 3)).collect();
            let bias: Vec<f32> = (0..n).map(|i| number(i + 5)).collect();
            let stride = n + 2;
            for are_vectors in [false, true] {
                for (bias, accumulate) in [(None, false), (Some(&*bias), false), (Some(&*bias), true)] {
                    let mut output = vec![2.0; m * stride * lanes];
                    let factor = match are_vectors {
                        true => Factor::Vectors(Matrix::strided(&b, k, n, n)),
                        false => Factor::Numbers(Matrix::new(&b[..k * n], k, n)),
                    };
                    Arch::new().dispatch(Product {
                        output: &mut output,
                        stride,
                        // As rows that were columns.
                        a: Matrix::strided(&a, k, m, m).transposed(),
                        b: factor,
                        bias,
                        accumulate,
                    });
                    for (i, output) in output.iter().enumerate() {
                        let (element, lane) = (i / lanes, i % lanes);
                        let (row, column) = (element / stride, element % stride);
                        let term = |l: usize| {
                            let b = match are_vectors {
                                true => b[(l * n + column) * lanes + lane],
                                false => b[l * n + column],
                            };
                            a[(l * m + row) * lanes + lane] * b
                        };
                        let expected = if column < n {
                            (0..k).map(term).sum::<f32>()
                                + bias.map_or(0.0, |bias| bias[column])
                                + if accumulate { 2.0 } else { 0.0 }
                        } else {
                            2.0
                        };
                        assert_eq!(*output, expected, "({m}, {n}, {k}) at {row}, {column}");
                    }
                }
            }
        }
    }
}
