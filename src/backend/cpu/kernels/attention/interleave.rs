//! Sequences side by side: a vector holds one element of each.

use super::AttentionDims;
use crate::autograd::Buffer;
use crate::matmul::{Extent, Matrix, multiply};
use crate::simd::{VectorElements, row_chunks_mut, vectorized};
use pulp::Simd;
use std::ops::Range;

/// `(N, Len) -> (Len, Lanes)`. A lane without a sequence repeats the first one, so it gives neither NaN nor infinity.
pub fn interleave(rows: &[f32], len: usize, lanes: usize) -> Buffer {
    let mut interleaved = Buffer::recycled(len * lanes);
    let row = |lane: usize| rows.get(lane * len..(lane + 1) * len).unwrap_or(&rows[..len]);
    match lanes {
        16 => interleave_all::<16>(&mut interleaved, row),
        8 => interleave_all::<8>(&mut interleaved, row),
        _ => {
            for lane in 0..lanes {
                for (vector, element) in interleaved.chunks_exact_mut(lanes).zip(row(lane)) {
                    vector[lane] = *element;
                }
            }
        }
    }
    interleaved
}

/// [`interleave`] for a known number of lanes: the elements of all lanes are read at once.
fn interleave_all<'a, const LANES: usize>(interleaved: &mut [f32], row: impl Fn(usize) -> &'a [f32]) {
    let rows: [&[f32]; LANES] = std::array::from_fn(row);
    let (vectors, _) = interleaved.as_chunks_mut::<LANES>();
    vectorized!({
        let rows = rows.map(|row| &row[..vectors.len()]);
        for (position, vector) in vectors.iter_mut().enumerate() {
            for (element, row) in vector.iter_mut().zip(rows) {
                *element = row[position];
            }
        }
    });
}

/// `(Len, Lanes) -> (N, Len)`.
pub fn deinterleave(rows: &mut [f32], len: usize, lanes: usize, interleaved: &[f32]) {
    let mut rows: Vec<_> = row_chunks_mut(rows, len).collect();
    let vectors = Matrix::strided(interleaved, len, rows.len(), lanes);
    vectors.transposed().copy_to_rows(&mut rows);
}

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
    let ops = VectorElements(simd);
    multiply(simd, output, stride, false, (ops, a), (ops, b), &extent);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deinterleaving_inverts_interleaving() {
        for (lanes, len, count) in [(4, 3, 4), (8, 5, 8), (16, 37, 16), (16, 2, 9), (1, 5, 1)] {
            let rows: Vec<f32> = (0..len * count).map(|i| i as f32 + 1.0).collect();
            let interleaved = interleave(&rows, len, lanes);
            for (position, vector) in interleaved.chunks_exact(lanes).enumerate() {
                for (lane, element) in vector.iter().enumerate() {
                    let row = if lane < count { lane } else { 0 };
                    assert_eq!(*element, rows[row * len + position]);
                }
            }
            let mut result = vec![0.0; rows.len()];
            deinterleave(&mut result, len, lanes, &interleaved);
            assert_eq!(result, rows);
        }
    }
}
