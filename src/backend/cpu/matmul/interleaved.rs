use super::{Extent, Matrix, SimdMatrix, multiply};
use crate::simd::{LaneWise, RowWise};
use pulp::{Simd, WithSimd};

/// `output = a b + bias`, or `output += a b + bias` if `accumulate`: a separate product in each lane.
pub(super) struct InterleavedMatmul<'a> {
    pub output: &'a mut [f32],
    /// Rows of `output` start this number of vectors apart.
    pub stride: usize,
    pub a: Matrix<'a>,
    pub b: Rhs<'a>,
    /// One `f32` for each column of `output`.
    pub bias: Option<&'a [f32]>,
    pub accumulate: bool,
}

/// The right-hand side of an interleaved product.
#[derive(Clone, Copy)]
pub(super) enum Rhs<'a> {
    /// One matrix for all lanes.
    Broadcast(Matrix<'a>),
    /// One matrix for each lane.
    Interleaved(Matrix<'a>),
}

impl WithSimd for InterleavedMatmul<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { output, stride, a, b, bias, mut accumulate } = self;
        let output = S::as_mut_simd_f32s(output).0;
        if let Some(bias) = bias {
            for row in output.chunks_mut(stride).take(a.rows()) {
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
        let a_lanes = SimdMatrix::new(LaneWise(simd), a);
        macro_rules! multiply {
            ($context:ident, $b:ident) => {
                multiply(simd, output, stride, accumulate, a_lanes, SimdMatrix::new($context(simd), $b), &|_| Extent {
                    inner: 0..a.columns(),
                    columns: $b.columns(),
                })
            };
        }
        match b {
            Rhs::Broadcast(b) => multiply!(RowWise, b),
            Rhs::Interleaved(b) => multiply!(LaneWise, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{level, simd_width};

    /// Integer values, so that no sum is rounded.
    #[test]
    fn every_lane_is_a_product_of_its_own() {
        let lanes = simd_width();
        let number = |i: usize| ((i * 7919) % 31) as f32 - 15.0;
        for (m, n, k) in [(1, 1, 1), (2, 3, 5), (7, 5, 4), (4, 8, 3), (5, 1, 0), (9, 6, 11)] {
            let a: Vec<f32> = (0..m * k * lanes).map(number).collect();
            let b: Vec<f32> = (0..k * n * lanes).map(|i| number(i + 3)).collect();
            let bias: Vec<f32> = (0..n).map(|i| number(i + 5)).collect();
            let stride = n + 2;
            for is_interleaved in [false, true] {
                for (bias, accumulate) in [(None, false), (Some(&*bias), false), (Some(&*bias), true)] {
                    let mut output = vec![2.0; m * stride * lanes];
                    let rhs = match is_interleaved {
                        true => Rhs::Interleaved(Matrix::strided(&b, k, n, n)),
                        false => Rhs::Broadcast(Matrix::new(&b[..k * n], k, n)),
                    };
                    level().dispatch(InterleavedMatmul {
                        output: &mut output,
                        stride,
                        // Columns stored as rows.
                        a: Matrix::strided(&a, k, m, m).transposed(),
                        b: rhs,
                        bias,
                        accumulate,
                    });
                    for (i, output) in output.iter().enumerate() {
                        let (element, lane) = (i / lanes, i % lanes);
                        let (row, column) = (element / stride, element % stride);
                        let term = |l: usize| {
                            let b = match is_interleaved {
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
