//! The layout of a kernel's rows in memory: row-major or, if rows are short, interleaved.
//!
//! A short row (8 elements, or a head of 5) leaves a register half empty. Taking one element from each of
//! several rows fills it.

use super::{
    Matrix,
    gemm::matmul,
    interleaved::{InterleavedMatmul, Rhs},
    rows::fill_rows,
};
use crate::{
    autograd::{Buffer, Operand, Partition, Split},
    simd::{LaneWise, RowWise, WithContext, dispatch_simd, level, simd_width, sum},
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use pulp::{Simd, WithSimd};
use std::iter;

/// The layout of rows in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Contiguous rows.
    RowMajor,
    /// Interleaved over this many lanes. Each lane holds one sequence, or a run of consecutive rows if
    /// sequences do not matter.
    Interleaved(usize),
}

/// Interleaved over the lanes of this processor's vectors if `units` (rows or sequences) fill at least half a
/// vector; otherwise, or without vectors, row-major.
pub fn interleaved_if_half_full(units: usize) -> Layout {
    let lanes = simd_width();
    match lanes > 1 && units >= lanes / 2 {
        true => Layout::Interleaved(lanes),
        false => Layout::RowMajor,
    }
}

impl Layout {
    /// Runs a loop body in the context of this layout, compiled for this processor.
    pub fn dispatch(self, body: impl WithContext) {
        struct Rows<K>(K);
        impl<K: WithContext> WithSimd for Rows<K> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                self.0.with_context(RowWise(simd));
            }
        }
        struct Lanes<K>(K);
        impl<K: WithContext> WithSimd for Lanes<K> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                self.0.with_context(LaneWise(simd));
            }
        }
        match self {
            Self::RowMajor => level().dispatch(Rows(body)),
            Self::Interleaved(_) => level().dispatch(Lanes(body)),
        }
    }

    /// The number of units (rows or sequences) that a vector holds side by side.
    fn lane_count(self) -> usize {
        match self {
            Self::RowMajor => 1,
            Self::Interleaved(lanes) => lanes,
        }
    }

    /// `units` (rows or sequences) rounded up to whole vectors.
    pub fn padded_len(self, units: usize) -> usize {
        units.next_multiple_of(self.lane_count())
    }

    /// The number of consecutive rows that each lane holds.
    pub fn rows_per_lane(self, rows: usize) -> usize {
        rows.div_ceil(self.lane_count())
    }

    /// The number of matrix rows of `width` elements: one row per vector in the interleaved layout.
    pub fn matrix_rows(self, elements: &[f32], width: usize) -> usize {
        elements.len() / (width * self.lane_count()).max(1)
    }

    /// [`Split::choose`] for rows in this layout: interleaved rows are never split by columns.
    pub fn choose_split(self, units: usize, rows: usize) -> Split {
        match self {
            Self::RowMajor => Split::choose(units, rows),
            Self::Interleaved(_) => Split::Rows,
        }
    }

    /// A partition whose chunks fill all lanes, except in the last chunk. If threads split columns, it has one chunk.
    pub fn partition(self, split: Split, units: usize, macs_per_unit: usize, max_chunk_len: usize) -> Partition {
        match split {
            Split::Rows => Partition::of_groups(units, self.lane_count(), macs_per_unit, max_chunk_len),
            Split::Columns => Partition::whole(units),
        }
    }

    /// `output = a b + bias`, or `output += a b + bias` if `accumulate`; all rows share `b`.
    pub fn multiply(self, output: &mut [f32], a: Matrix, b: Matrix, bias: Option<&[f32]>, accumulate: bool) {
        let stride = b.columns();
        match self {
            Self::RowMajor => {
                if bias.is_some() {
                    fill_rows(output, bias, stride, accumulate);
                }
                matmul(output, a, b, accumulate || bias.is_some());
            }
            Self::Interleaved(_) => {
                let b = Rhs::Broadcast(b);
                level().dispatch(InterleavedMatmul { output, stride, a, b, bias, accumulate });
            }
        }
    }

    /// `output = a b`, or `output += a b` if `accumulate`: the product for weight gradients, whose inner
    /// dimension is the rows. Interleaved: each lane keeps its own sum.
    pub fn multiply_over_rows(self, output: &mut [f32], a: Matrix, b: Matrix, accumulate: bool) {
        match self {
            Self::RowMajor => matmul(output, a, b, accumulate),
            Self::Interleaved(_) => {
                let (stride, b) = (b.columns(), Rhs::Interleaved(b));
                level().dispatch(InterleavedMatmul { output, stride, a, b, bias: None, accumulate });
            }
        }
    }

    /// The length of a parameter's gradient with a sum for each lane.
    pub fn partial_gradient_len(self, parameter: &Operand) -> usize {
        parameter.len() * self.lane_count()
    }

    /// A zero gradient of length [`partial_gradient_len`](Self::partial_gradient_len).
    pub fn zero_gradient(self, parameter: &Operand) -> Buffer {
        Buffer::zeros(self.partial_gradient_len(parameter))
    }

    /// Sums the lanes of `part` and adds them to the parameter's gradient. Parts are added one after the
    /// other, because two operands of a kernel may be the same tensor.
    pub fn accumulate_gradient(
        self,
        parameter: &Operand,
        gradients: &mut Gradients<f32, Cpu>,
        part: &[f32],
    ) -> Result<(), CpuError> {
        let Self::Interleaved(lanes) = self else {
            return parameter.accumulate_gradient(gradients, part);
        };
        let gradient = gradients.get_or_alloc_mut(&parameter.tensor)?;
        dispatch_simd(
            #[inline(always)]
            || {
                for (gradient, part) in gradient.iter_mut().zip(part.chunks_exact(lanes)) {
                    *gradient += sum(part);
                }
            },
        );
        Ok(())
    }

    /// Scratch memory for interleaved rows; empty if row-major.
    pub fn scratch(self, len: usize) -> Buffer {
        Buffer::recycled(if self == Self::RowMajor { 0 } else { len })
    }

    /// Interleaves `rows` into `scratch`, `lane_len` elements per lane. Row-major: returns `rows` unchanged.
    /// Unused lanes repeat the first, so they cannot produce NaN or infinity.
    pub fn interleave<'a>(self, rows: &'a [f32], lane_len: usize, scratch: &'a mut [f32]) -> &'a [f32] {
        self.interleave_padded_with(rows, lane_len, scratch, rows.iter())
    }

    /// Like [`interleave`](Self::interleave), but unused lanes are 0, so that they add nothing to a gradient.
    pub fn interleave_zero_padded<'a>(self, rows: &'a [f32], lane_len: usize, scratch: &'a mut [f32]) -> &'a [f32] {
        self.interleave_padded_with(rows, lane_len, scratch, iter::repeat(&0.0))
    }

    fn interleave_padded_with<'a>(
        self,
        rows: &'a [f32],
        lane_len: usize,
        scratch: &'a mut [f32],
        padding: impl Iterator<Item = &'a f32> + Clone,
    ) -> &'a [f32] {
        let Self::Interleaved(lanes) = self else {
            return rows;
        };
        let scratch = &mut scratch[..lane_len * lanes];
        for lane in 0..lanes {
            let lane_rows = rows.get(lane * lane_len..).unwrap_or_default();
            let lane_rows = &lane_rows[..lane_rows.len().min(lane_len)];
            let (used, unused) = scratch.split_at_mut(lane_rows.len() * lanes);
            for (vector, element) in used.chunks_exact_mut(lanes).zip(lane_rows) {
                vector[lane] = *element;
            }
            let padding = padding.clone().skip(lane_rows.len());
            for (vector, element) in unused.chunks_exact_mut(lanes).zip(padding) {
                vector[lane] = *element;
            }
        }
        scratch
    }

    /// Calls `run` on memory in this layout, and copies the result to the row-major `rows`.
    pub fn write_rows(self, rows: &mut [f32], lane_len: usize, scratch: &mut [f32], run: impl FnOnce(&mut [f32])) {
        let Self::Interleaved(lanes) = self else {
            return run(rows);
        };
        let scratch = &mut scratch[..lane_len * lanes];
        run(scratch);
        deinterleave(scratch, lanes, rows, lane_len, |to, element| *to = element);
    }

    /// Calls `run` on zeros in this layout, and adds the result to `rows`. Row-major: `run` adds to `rows`
    /// itself.
    pub fn add_to_rows(self, rows: &mut [f32], lane_len: usize, scratch: &mut [f32], run: impl FnOnce(&mut [f32])) {
        let Self::Interleaved(lanes) = self else {
            return run(rows);
        };
        let scratch = &mut scratch[..lane_len * lanes];
        scratch.fill(0.0);
        run(scratch);
        deinterleave(scratch, lanes, rows, lane_len, |to, element| *to += element);
    }
}

/// Calls `put` with each element of `rows` and its interleaved element, `lane_len` elements per lane.
fn deinterleave(interleaved: &[f32], lanes: usize, rows: &mut [f32], lane_len: usize, put: impl Fn(&mut f32, f32)) {
    for (lane, lane_rows) in rows.chunks_mut(lane_len).enumerate() {
        for (to, vector) in lane_rows.iter_mut().zip(interleaved.chunks_exact(lanes)) {
            put(to, vector[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::add_row;

    #[test]
    fn deinterleaving_inverts_interleaving() {
        for (lanes, lane_len, len) in [(4, 3, 12), (4, 3, 8), (4, 3, 10), (1, 5, 5), (16, 2, 2)] {
            let layout = Layout::Interleaved(lanes);
            let rows: Vec<f32> = (0..len).map(|i| i as f32 + 1.0).collect();
            let mut scratch = vec![7.0; lane_len * lanes];
            layout.interleave_zero_padded(&rows, lane_len, &mut scratch);
            assert_eq!(scratch.iter().filter(|x| **x == 0.0).count(), scratch.len() - len);
            layout.interleave(&rows, lane_len, &mut scratch);
            assert!(scratch.iter().all(|x| rows.contains(x)));
            let interleaved = scratch.clone();
            let mut result = vec![1.0; len];
            layout.write_rows(&mut result, lane_len, &mut scratch, |out| {
                out.copy_from_slice(&interleaved);
            });
            assert_eq!(result, rows);
            layout.add_to_rows(&mut result, lane_len, &mut scratch, |out| {
                add_row(out, &interleaved);
            });
            assert!(result.iter().zip(&rows).all(|(a, b)| *a == 2.0 * b));
        }
    }
}
