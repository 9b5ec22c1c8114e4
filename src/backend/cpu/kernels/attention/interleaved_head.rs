use super::AttentionDims;
use crate::{
    matmul::{Extent, Matrix, SimdMatrix, multiply},
    simd::LaneWise,
};
use pulp::Simd;
use std::ops::Range;

/// `(P, H·Dim) -> (P, Dim)`: the columns of one head, in place.
#[inline(always)]
pub fn head_view<S: Simd>(
    all: &[f32],
    dims: AttentionDims,
    head: usize,
    positions: usize,
    head_dim: usize,
) -> Matrix<'_> {
    let elements = all.get(head * head_dim * S::F32_LANES..).unwrap_or_default();
    Matrix::strided(elements, positions, head_dim, dims.heads * head_dim)
}

/// `output = a b`, where rows of `output` start `stride` vectors apart. `extent` limits the product for a range of
/// rows.
#[inline(always)]
pub fn multiply_lanes<S: Simd>(
    simd: S,
    output: &mut [f32],
    stride: usize,
    a: Matrix,
    b: Matrix,
    extent: impl Fn(Range<usize>) -> Extent,
) {
    let output = S::as_mut_simd_f32s(output).0;
    let [a, b] = [a, b].map(|matrix| SimdMatrix::new(LaneWise(simd), matrix));
    multiply(simd, output, stride, false, a, b, &extent);
}
