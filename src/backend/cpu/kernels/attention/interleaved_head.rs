//! The operands of one head. A row-major head is copied and padded to whole vectors. An interleaved head
//! already consists of whole vectors.

use super::AttentionDims;
use crate::backend::cpu::{
    autograd::Buffer,
    matmul::{Extent, Matrix, SimdMatrix, multiply},
    simd::{Context, LaneWise},
};
use pulp::Simd;
use std::ops::Range;

/// `(P, H·Dim) -> (P, Dim)`: the columns of one head, in place.
#[inline(always)]
pub fn head_view<C: Context>(
    all: &[f32],
    dims: AttentionDims,
    head: usize,
    positions: usize,
    head_dim: usize,
) -> Matrix<'_> {
    let elements = all.get(head * head_dim * C::ELEMENT_LEN..).unwrap_or_default();
    Matrix::strided(elements, positions, head_dim, dims.heads * head_dim)
}

/// `(Q, K)`: the attention weights or scores of one head.
#[inline(always)]
pub fn scores_view<C: Context>(elements: &[f32], dims: AttentionDims) -> Matrix<'_> {
    Matrix::strided(elements, dims.queries, dims.keys, C::row_len(dims.keys))
}

/// Scratch memory for a row-major matrix of one head. Each row is padded with zeros to whole vectors. It is
/// empty in the interleaved layout.
pub struct PaddedHead(Buffer);

impl PaddedHead {
    pub fn new<C: Context>(rows: usize, columns: usize) -> Self {
        let len = if C::HAS_PADDED_ROWS { rows * C::row_len(columns) } else { 0 };
        Self(Buffer::zeros(len))
    }

    /// The matrix as rows of vectors. A row-major matrix is copied.
    #[inline(always)]
    pub fn load<'a, C: Context>(&'a mut self, c: C, matrix: Matrix<'a>) -> SimdMatrix<'a, LaneWise<C::Simd>> {
        let c = LaneWise(c.simd());
        if !C::HAS_PADDED_ROWS {
            return SimdMatrix::new(c, matrix);
        }
        let (rows, columns) = (matrix.rows(), matrix.columns());
        let width = C::row_len(columns).max(1);
        if let Some(rows) = matrix.contiguous_rows() {
            for (to, row) in self.0.chunks_exact_mut(width).zip(rows) {
                to[..columns].copy_from_slice(row);
            }
        } else {
            // Column by column, because the columns of a transposed matrix are contiguous.
            for column in 0..columns {
                let to = self.0[column..].iter_mut().step_by(width);
                for (row, to) in to.enumerate().take(rows) {
                    *to = matrix.get(row, column);
                }
            }
        }
        let vectors = C::row_vectors(columns);
        SimdMatrix::new(c, Matrix::strided(&self.0, rows, vectors, vectors))
    }
}

/// `out = a b` for scores. Of each range of queries, only the first `visible_len` keys are computed.
#[inline(always)]
pub fn multiply_scores<C: Context>(
    c: C,
    out: &mut [f32],
    a: Matrix,
    b: SimdMatrix<LaneWise<C::Simd>>,
    keys: usize,
    visible_len: impl Fn(Range<usize>) -> usize,
) {
    let out = C::Simd::as_mut_simd_f32s(out).0;
    let inner = a.columns();
    let a = SimdMatrix::new(c, a);
    multiply(c.simd(), out, C::row_vectors(keys), false, a, b, &|queries| Extent {
        inner: 0..inner,
        columns: C::row_vectors(visible_len(queries)),
    });
}

/// `(P, Dim) -> (P, H·Dim)`: `out = a b` for the columns of one head; only the terms in `inner` are summed.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn multiply_head<C: Context>(
    c: C,
    out: &mut [f32],
    dims: AttentionDims,
    head: usize,
    head_dim: usize,
    padded: &mut PaddedHead,
    a: Matrix,
    b: SimdMatrix<LaneWise<C::Simd>>,
    inner: impl Fn(Range<usize>) -> Range<usize>,
) {
    let a = SimdMatrix::new(c, a);
    let vectors = C::row_vectors(head_dim);
    let extent = |rows: Range<usize>| Extent { inner: inner(rows), columns: vectors };
    if !C::HAS_PADDED_ROWS {
        let out = &mut C::Simd::as_mut_simd_f32s(out).0[head * head_dim..];
        return multiply(c.simd(), out, dims.heads * head_dim, false, a, b, &extent);
    }
    multiply(c.simd(), C::Simd::as_mut_simd_f32s(&mut padded.0).0, vectors, false, a, b, &extent);
    scatter_head(out, dims, head, head_dim, &padded.0, C::row_len(head_dim));
}

/// Copies padded rows into the columns of one head.
#[inline(always)]
fn scatter_head(out: &mut [f32], dims: AttentionDims, head: usize, head_dim: usize, padded: &[f32], row_len: usize) {
    let positions = out.chunks_exact_mut((dims.heads * head_dim).max(1));
    for (out, row) in positions.zip(padded.chunks_exact(row_len.max(1))) {
        out[head * head_dim..][..head_dim].copy_from_slice(&row[..head_dim]);
    }
}
