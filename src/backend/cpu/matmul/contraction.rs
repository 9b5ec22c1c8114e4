//! The contraction of two tensors of any strides, as products of matrices of any strides.

use super::Matrix;
use super::matrix::{MatrixMut, matmul_into};
use super::small_contraction::{is_small, matmul_small};
use crate::autograd::Partition;
use std::cmp::Reverse;

/// An axis of a contraction: its size, and its strides in the output and in the two operands. A stride is 0 if the axis
/// is not in the tensor, or is repeated there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedAxis {
    pub size: usize,
    pub output: usize,
    pub left: usize,
    pub right: usize,
}

impl StridedAxis {
    /// An axis of one element.
    const ONE: Self = Self { size: 1, output: 0, left: 0, right: 0 };

    fn offsets(self, index: usize) -> Offsets {
        Offsets { output: index * self.output, left: index * self.left, right: index * self.right }
    }

    /// This axis and the next one as one axis, if a step along this one is `next.size` steps along the next in all
    /// three tensors.
    fn merged(self, next: Self) -> Option<Self> {
        let follows = |outer: usize, inner: usize| outer == inner * next.size;
        let is_one =
            follows(self.output, next.output) && follows(self.left, next.left) && follows(self.right, next.right);
        is_one.then_some(Self { size: self.size * next.size, ..next })
    }
}

/// Positions in the output and in the two operands.
#[derive(Clone, Copy, Default)]
struct Offsets {
    output: usize,
    left: usize,
    right: usize,
}

/// `output = Σ left · right` over the axes that the output does not have.
///
/// Axes of the output and of the left operand alone are the rows of a matrix, axes of the output that the left operand
/// does not have are its columns, and the axes of the sum its inner axis. There is a product of matrices for each index
/// of the other axes.
pub fn contract_strided(output: &mut [f32], left: &[f32], right: &[f32], axes: &[StridedAxis]) {
    let plan = LoopPlan::new(axes);
    let Some(split) = plan.split_axis() else {
        return plan.run(output, left, right);
    };
    // Each thread computes a range of the axis along which the output's elements are farthest apart.
    let macs_per_index = axes.iter().map(|axis| axis.size).product::<usize>() / split.size;
    let partition = Partition::new(split.size, macs_per_index, usize::MAX);
    let last_offset = |axis: &StridedAxis| (axis.size - 1) * axis.output;
    let len = axes.iter().map(last_offset).sum::<usize>() + 1;
    // The slice ends at the last element that is written, so the last chunk may be shorter than its range.
    let mut rest = &mut output[..len];
    let chunks = partition.chunks().map(|range| {
        let len = (range.len() * split.output).min(rest.len());
        let (chunk, after) = std::mem::take(&mut rest).split_at_mut(len);
        rest = after;
        (range, chunk)
    });
    let chunks: Vec<_> = chunks.collect();
    partition.map_chunks(chunks.into_iter(), |(range, chunk)| {
        let start = split.offsets(range.start());
        let part = plan.with_size(split, range.len());
        part.run(chunk, &left[start.left..], &right[start.right..]);
    });
}

/// The axes of a contraction by their use.
struct LoopPlan {
    rows: StridedAxis,
    columns: StridedAxis,
    inner: StridedAxis,
    /// The other axes of the output: batch axes, and further axes of rows and columns.
    looped_output_axes: Vec<StridedAxis>,
    /// The other axes of the sum.
    looped_sum_axes: Vec<StridedAxis>,
}

impl LoopPlan {
    fn new(axes: &[StridedAxis]) -> Self {
        let class = |class: fn(&StridedAxis) -> bool| {
            merged(axes.iter().copied().filter(|axis| axis.size > 1).filter(class).collect())
        };
        let mut rows = class(|axis| axis.output > 0 && axis.left > 0 && axis.right == 0);
        // The right operand may repeat itself along the columns, too.
        let mut columns = class(|axis| axis.output > 0 && axis.left == 0);
        let mut looped_sum_axes = class(|axis| axis.output == 0);
        let mut looped_output_axes = class(|axis| axis.output > 0 && axis.left > 0 && axis.right > 0);
        let plan = [largest(&mut rows), largest(&mut columns), largest(&mut looped_sum_axes)];
        looped_output_axes.extend(rows.into_iter().chain(columns));
        Self { rows: plan[0], columns: plan[1], inner: plan[2], looped_output_axes, looped_sum_axes }
    }

    /// The axis that is split among threads: that with the largest stride in the output, if its slices do not overlap
    /// in memory.
    fn split_axis(&self) -> Option<StridedAxis> {
        let axes = || self.looped_output_axes.iter().copied().chain([self.rows, self.columns]);
        let axis = axes().max_by_key(|axis| axis.output).filter(|axis| axis.size > 1)?;
        let others = axes().map(|axis| (axis.size - 1) * axis.output).sum::<usize>() - (axis.size - 1) * axis.output;
        (others < axis.output).then_some(axis)
    }

    /// The plan of a part of the output: `size` indices of its axis `whole`.
    fn with_size(&self, whole: StridedAxis, size: usize) -> Self {
        let part_of = |axis: StridedAxis| if axis == whole { StridedAxis { size, ..axis } } else { axis };
        Self {
            rows: part_of(self.rows),
            columns: part_of(self.columns),
            inner: self.inner,
            looped_output_axes: self.looped_output_axes.iter().copied().map(part_of).collect(),
            looped_sum_axes: self.looped_sum_axes.clone(),
        }
    }

    /// The contraction: a product of matrices for each index of the looped axes.
    fn run(&self, output: &mut [f32], left: &[f32], right: &[f32]) {
        let Self { rows, columns, inner, looped_output_axes, looped_sum_axes } = self;
        let (is_small, mut scratch) = (is_small(rows.size, columns.size, inner.size), Vec::new());
        for_each_index(looped_output_axes, Offsets::default(), &mut |start| {
            let mut is_first = true;
            for_each_index(looped_sum_axes, start, &mut |at| {
                let left = Matrix::of_strides(&left[at.left..], [rows.size, inner.size], [rows.left, inner.left]);
                let strides = [inner.right, columns.right];
                let right = Matrix::of_strides(&right[at.right..], [inner.size, columns.size], strides);
                let strides = [rows.output, columns.output];
                let output = MatrixMut::of_strides(&mut output[at.output..], [rows.size, columns.size], strides);
                match is_small {
                    true => matmul_small(output, left, right, !is_first, &mut scratch),
                    false => matmul_into(output, left, right, !is_first),
                }
                is_first = false;
            });
        });
    }
}

/// Removes the largest axis; one of size 1 if there is none.
fn largest(axes: &mut Vec<StridedAxis>) -> StridedAxis {
    let largest = axes.iter().enumerate().max_by_key(|(_, axis)| axis.size).map(|(i, _)| i);
    largest.map_or(StridedAxis::ONE, |i| axes.remove(i))
}

/// Merges axes where possible, and sorts them by stride, the largest first.
fn merged(mut axes: Vec<StridedAxis>) -> Vec<StridedAxis> {
    axes.sort_by_key(|axis| Reverse((axis.output, axis.left, axis.right)));
    let mut merged: Vec<StridedAxis> = Vec::with_capacity(axes.len());
    for axis in axes {
        match merged.last_mut().and_then(|last| Some((last.merged(axis)?, last))) {
            Some((one, last)) => *last = one,
            None => merged.push(axis),
        }
    }
    merged
}

/// Calls `run` with the positions of each index of the axes.
fn for_each_index(axes: &[StridedAxis], start: Offsets, run: &mut impl FnMut(Offsets)) {
    match axes {
        [] => run(start),
        [axis, rest @ ..] => {
            for index in 0..axis.size {
                let Offsets { output, left, right } = axis.offsets(index);
                let at = Offsets { output: start.output + output, left: start.left + left, right: start.right + right };
                for_each_index(rest, at, run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: one multiply-add after the other.
    fn definition(output: &mut [f32], left: &[f32], right: &[f32], axes: &[StridedAxis]) {
        for_each_index(axes, Offsets::default(), &mut |at| output[at.output] += left[at.left] * right[at.right]);
    }

    fn number(i: usize) -> f32 {
        ((i * 7919) % 13) as f32 - 6.0
    }

    #[test]
    fn agrees_with_the_definition_for_all_strides() {
        // Sizes, and strides in the output, on the left and on the right; with many sizes also for several threads.
        let cases: [&[[usize; 4]]; 13] = [
            &[],
            &[[5, 0, 1, 1]],
            &[[4, 3, 0, 1], [3, 1, 1, 0]],
            // Scores: batch, head, query, key and width; heads before positions, and after them.
            &[[2, 60, 60, 60], [3, 20, 20, 20], [4, 5, 5, 0], [5, 1, 0, 5], [5, 0, 1, 1]],
            &[[2, 60, 40, 75], [3, 20, 5, 5], [4, 5, 10, 0], [5, 1, 0, 15], [5, 0, 1, 1]],
            // Two axes of the sum and two of the rows that are not neighbours.
            &[[3, 14, 20, 0], [2, 0, 10, 7], [7, 2, 0, 1], [2, 1, 5, 0], [5, 0, 1, 14]],
            // The operands repeat themselves, along an axis of the output and one of the sum.
            &[[3, 8, 0, 0], [4, 2, 1, 0], [2, 1, 0, 1], [6, 0, 4, 0]],
            // The gradients of a sum over all axes, and over one of two.
            &[[30_000, 1, 0, 0]],
            &[[200, 100, 1, 0], [100, 1, 0, 0]],
            // Outer products, and a vector times the matrix of each query.
            &[[3, 35, 5, 7], [5, 7, 1, 0], [7, 1, 0, 1]],
            &[[3, 20, 40, 800], [20, 1, 0, 40], [40, 0, 1, 1]],
            // More work than for one thread.
            &[[2, 40_000, 20_000, 20_000], [200, 200, 100, 0], [200, 1, 0, 100], [100, 0, 1, 1]],
            &[[200, 1, 100, 0], [200, 200, 0, 100], [100, 0, 1, 1]],
        ];
        for case in cases {
            let axes: Vec<_> =
                case.iter().map(|&[size, output, left, right]| StridedAxis { size, output, left, right }).collect();
            let len = |stride: fn(&StridedAxis) -> usize| {
                axes.iter().map(|axis| (axis.size - 1) * stride(axis)).sum::<usize>() + 1
            };
            let left: Vec<f32> = (0..len(|axis| axis.left)).map(number).collect();
            let right: Vec<f32> = (0..len(|axis| axis.right)).map(|i| number(i + 3)).collect();
            let mut expected = vec![0.0; len(|axis| axis.output)];
            definition(&mut expected, &left, &right, &axes);
            let mut output = vec![2.0; expected.len()];
            contract_strided(&mut output, &left, &right, &axes);
            assert_eq!(output, expected, "{axes:?}");
        }
    }

    #[test]
    fn neighbouring_axes_are_one() {
        let axis = |size, output, left, right| StridedAxis { size, output, left, right };
        assert_eq!(merged(vec![axis(4, 3, 3, 0), axis(2, 12, 12, 0), axis(3, 1, 1, 0)]), [axis(24, 1, 1, 0)]);
        assert_eq!(merged(vec![axis(4, 3, 1, 0), axis(3, 1, 4, 0)]).len(), 2);
    }
}
