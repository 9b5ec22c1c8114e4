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
        let mut accumulate = self.accumulate;
        let output = S::as_mut_simd_f32s(self.output).0;
        if let Some(bias) = self.bias {
            for row in output.chunks_mut(self.stride).take(a.rows()) {
                for (output, bias) in row.iter_mut().zip(bias) {
                    let bias = simd.splat_f32s(*bias);
                    *output = match accumulate {
                        true => simd.add_f32s(*output, bias),
                        false => bias,
                    };
                }
            }
            accumulate = true;
        }
        let stride = self.stride;
        match (self.b, accumulate) {
            (Factor::Numbers(b), true) => {
                multiply::<S, true>(simd, output, stride, a, Splat(b), b.columns());
            }
            (Factor::Numbers(b), false) => {
                multiply::<S, false>(simd, output, stride, a, Splat(b), b.columns());
            }
            (Factor::Vectors(b), true) => {
                multiply::<S, true>(simd, output, stride, a, b.of_vectors::<S>(), b.columns());
            }
            (Factor::Vectors(b), false) => {
                multiply::<S, false>(simd, output, stride, a, b.of_vectors::<S>(), b.columns());
            }
        }
    }
}

/// Rows and columns of the blocks whose sums stay in registers: so many sums that an addition need not
/// wait for the one before it, and that what is read is used several times.
const BLOCK: usize = 4;

#[inline(always)]
fn multiply<S: Simd, const ACCUMULATE: bool>(
    simd: S,
    output: &mut [S::f32s],
    stride: usize,
    a: Matrix<S::f32s>,
    b: impl Vectors<S>,
    columns: usize,
) {
    for row in (0..a.rows()).step_by(BLOCK) {
        let output = &mut output[row * stride..];
        macro_rules! rows {
            ($rows:literal) => {
                multiply_rows::<S, ACCUMULATE, $rows>(simd, output, stride, a, row, b, columns)
            };
        }
        match a.rows() - row {
            1 => rows!(1),
            2 => rows!(2),
            3 => rows!(3),
            _ => rows!(4),
        }
    }
}

#[inline(always)]
fn multiply_rows<S: Simd, const ACCUMULATE: bool, const ROWS: usize>(
    simd: S,
    output: &mut [S::f32s],
    stride: usize,
    a: Matrix<S::f32s>,
    row: usize,
    b: impl Vectors<S>,
    columns: usize,
) {
    for column in (0..columns).step_by(BLOCK) {
        let output = &mut output[column..];
        macro_rules! columns {
            ($columns:literal) => {
                multiply_block::<S, ACCUMULATE, ROWS, $columns>(simd, output, stride, a, row, b, column)
            };
        }
        match columns - column {
            1 => columns!(1),
            2 => columns!(2),
            3 => columns!(3),
            _ => columns!(4),
        }
    }
}

#[inline(always)]
fn multiply_block<S: Simd, const ACCUMULATE: bool, const ROWS: usize, const COLUMNS: usize>(
    simd: S,
    output: &mut [S::f32s],
    stride: usize,
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
    for (i, sums) in sums.into_iter().enumerate() {
        for (output, sum) in output[i * stride..][..COLUMNS].iter_mut().zip(sums) {
            *output = match ACCUMULATE {
                true => simd.add_f32s(*output, sum),
                false => sum,
            };
        }
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
