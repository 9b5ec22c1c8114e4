//! Attention in which each lane has a sequence: a vector holds one element of each sequence, or of the mask of each.

use super::interleaved_passes::{InterleavedBackward, InterleavedForward};
use super::{AttentionConfig, AttentionDims};
use crate::autograd::{Buffer, KernelOutput, Operand, Partition, with_backward};
use crate::kernel_options::MaskFill;
use crate::mask_rule::MaskRule;
use crate::matmul::{Extent, Matrix, multiply};
use crate::simd::{VectorElements, level, row_chunks_mut, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;
use pulp::Simd;
use std::{array, ops::Range};

/// Attention in which each of `lanes` lanes has a sequence.
pub fn interleaved_attention(
    operands: [Operand; 3],
    mask: MaskRule,
    config: AttentionConfig,
    lanes: usize,
) -> Result<KernelOutput, CpuError> {
    let (dims, batch) = (config.dims, mask.batch());
    let lens = [dims.q_len(), dims.k_len(), dims.v_len()];
    let mask = mask.to_matrix();
    let partition = Partition::of_groups(batch, lanes, dims.macs(), lanes);
    let mut out = operands[0].alloc_output(batch * dims.out_len())?;
    let saved = partition.map_mut(&mut out, dims.out_len(), |sequences, out| {
        let read = |i: usize| interleave(sequences.slice(operands[i].elements(), lens[i]), lens[i], lanes);
        let in_lanes: [Buffer; 3] = array::from_fn(read);
        let mut weights = Buffer::recycled(lanes * dims.heads * dims.mask_len());
        let mut lanes_out = Buffer::recycled(lanes * dims.out_len());
        let mask = sequences.slice(&mask, dims.mask_len());
        let operands = in_lanes.each_ref().map(|lanes| &**lanes);
        level().dispatch(InterleavedForward { out: &mut lanes_out, weights: &mut weights, operands, mask, config });
        deinterleave(out, dims.out_len(), lanes, &lanes_out);
        // Interleaved, for the backward pass.
        (in_lanes, weights)
    });
    let output = operands[0].new_tensor(out)?;

    Ok(with_backward(output, move |d_out, gradients| {
        let [mut dq, mut dk, mut dv] = operands.each_ref().map(|operand| Buffer::recycled(operand.len()));
        let chunks = izip!(
            partition.chunks(),
            partition.split_mut(&mut dq, dims.q_len()),
            partition.split_mut(&mut dk, dims.k_len()),
            partition.split_mut(&mut dv, dims.v_len()),
            &saved,
        );
        partition.map_chunks(chunks, |(sequences, dq, dk, dv, (in_lanes, weights))| {
            let d_out = interleave(sequences.slice(&d_out, dims.out_len()), dims.out_len(), lanes);
            let mut d_in_lanes = in_lanes.each_ref().map(|lanes| Buffer::recycled(lanes.len()));
            let d_operands = d_in_lanes.each_mut().map(|lanes| &mut **lanes);
            let operands = in_lanes.each_ref().map(|lanes| &**lanes);
            let mask = sequences.slice(&mask, dims.mask_len());
            level().dispatch(InterleavedBackward { d_operands, d_out: &d_out, operands, weights, mask, config });
            for (d, len, d_in_lanes) in izip!([dq, dk, dv], lens, &d_in_lanes) {
                deinterleave(d, len, lanes, d_in_lanes);
            }
        });
        for (operand, d) in operands.iter().zip([dq, dk, dv]) {
            operand.gradient.add(gradients, d);
        }
    }))
}

/// `(N, Len) -> (Len, Lanes)`. A lane without a sequence repeats the first one, so it gives neither NaN nor infinity.
fn interleave(rows: &[f32], len: usize, lanes: usize) -> Buffer {
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
    let rows: [&[f32]; LANES] = array::from_fn(row);
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
fn deinterleave(rows: &mut [f32], len: usize, lanes: usize, interleaved: &[f32]) {
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

/// For each query, the end of its keys with a weight. For each key, the first query for which it may have a weight.
/// Outside of these bounds all attention weights are 0, and nothing is computed.
pub struct VisibleBounds {
    key_ends: Vec<usize>,
    first_queries: Vec<usize>,
}

impl VisibleBounds {
    /// Bounds that hold for all of `masks`: `(N, Q, K) -> (Q,), (K,)`.
    pub fn new(AttentionConfig { dims, mask_fill, .. }: AttentionConfig, masks: &[bool]) -> Self {
        let mut key_ends = vec![0; dims.queries];
        for mask in masks.chunks_exact(dims.mask_len().max(1)) {
            for (key_end, row) in key_ends.iter_mut().zip(mask.chunks_exact(dims.keys.max(1))) {
                let len = match mask_fill {
                    // A query that sees no key attends to all keys alike.
                    MaskFill::MinValue => row.iter().rposition(|visible| *visible).map_or(dims.keys, |last| last + 1),
                    MaskFill::Subtract(_) => dims.keys,
                };
                *key_end = len.max(*key_end);
            }
        }
        let mut first_queries = Vec::with_capacity(dims.keys);
        for (query, &key_end) in key_ends.iter().enumerate() {
            // This query is the first for the keys that no earlier query reaches.
            first_queries.resize(first_queries.len().max(key_end), query);
        }
        first_queries.resize(dims.keys, dims.queries);
        Self { key_ends, first_queries }
    }

    /// The end of a query's keys with a weight.
    #[inline(always)]
    pub fn key_end(&self, query: usize) -> usize {
        self.key_ends[query]
    }

    /// The end of the keys with a weight for any of these queries.
    #[inline(always)]
    pub fn key_end_of_any(&self, queries: Range<usize>) -> usize {
        self.key_ends[queries].iter().copied().max().unwrap_or_default()
    }

    /// The first query for which any of these keys may have a weight, and all later ones.
    #[inline(always)]
    pub fn queries_seeing(&self, keys: Range<usize>) -> Range<usize> {
        // `first_queries` never decreases, so the first key has the smallest.
        let first = self.first_queries.get(keys.start);
        first.copied().unwrap_or_default()..self.key_ends.len()
    }
}

/// `(N, Q, K) -> (Q, K, N)`: the value that masks each score, interleaved in `lanes` lanes. Under
/// [`MaskFill::MinValue`] it is ∞ for a visible key; for a hidden key it is negative, and replaces the score. Under
/// [`MaskFill::Subtract`] it is added to the score. `None` if everything is visible.
#[inline(always)]
pub fn mask_values(
    AttentionConfig { dims, mask_fill, .. }: AttentionConfig,
    masks: &[bool],
    lanes: usize,
) -> Option<Buffer> {
    if !masks.contains(&false) {
        return None;
    }
    let (visible_value, hidden_value) = match mask_fill {
        MaskFill::MinValue => (f32::INFINITY, f32::MIN),
        MaskFill::Subtract(amount) => (0.0, -amount as f32),
    };
    let mut values = Buffer::zeros(AttentionDims::mask_len(dims) * lanes);
    for (lane, mask) in masks.chunks_exact(dims.mask_len()).enumerate() {
        for (vector, is_visible) in values.chunks_exact_mut(lanes).zip(mask) {
            vector[lane] = if *is_visible { visible_value } else { hidden_value };
        }
    }
    Some(values)
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
