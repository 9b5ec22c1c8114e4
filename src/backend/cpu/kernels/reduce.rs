//! Reductions and cumulative sums along an axis.

use super::MiddleAxis;
use crate::autograd::{Buffer, Chunk, KernelOutput, Operand, SumsInParts, partition_rows, with_backward};
use crate::kernel_options::ReductionKind;
use crate::simd::{ELEMENTS_PER_PART, add_row, larger_or_nan, max_or_nan, row_chunks, row_chunks_mut, sum, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;
use std::{iter, mem, ops::Range};

/// The sum, the mean or the largest element along an axis. The largest elements share the gradient evenly.
pub fn reduce_kernel(input: Operand, axis: MiddleAxis, kind: ReductionKind) -> Result<KernelOutput, CpuError> {
    let mut y = input.alloc_output(axis.outer * axis.inner)?;
    match axis.inner {
        1 => reduce_rows(&mut y, input.elements(), axis.len, kind),
        _ => reduce_columns(&mut y, input.elements(), axis, kind),
    }
    let factor = 1.0 / axis.len as f32;
    if kind == ReductionKind::Mean {
        y.iter_mut().for_each(|y| *y *= factor);
    }
    let output = input.new_tensor(y)?;
    let y = Operand::without_gradient(&output);

    Ok(with_backward(output, move |mut dy, gradients| {
        match kind {
            ReductionKind::Sum => {}
            ReductionKind::Mean => dy.iter_mut().for_each(|dy| *dy *= factor),
            ReductionKind::Max => divide_among_largest(&mut dy, y.elements(), input.elements(), axis),
        }
        let mut dx = Buffer::recycled(input.len());
        let partition = partition_rows(axis.outer * axis.len, axis.inner, 0);
        partition.map_mut(&mut dx, axis.inner, |rows, dx| {
            let x = rows.slice(input.elements(), axis.inner);
            let (all_y, all_dy, mut start) = (y.elements(), &dy, 0);
            vectorized!({
                for (block, rows) in parts_of_blocks(rows, axis.len) {
                    let len = rows.len() * axis.inner;
                    let (dx, x) = (&mut dx[start..][..len], &x[start..][..len]);
                    let [y, dy] = [all_y, all_dy].map(|all| &all[block * axis.inner..][..axis.inner]);
                    start += len;
                    write_gradients(dx, x, y, dy, kind);
                }
            });
        });
        input.gradient.add(gradients, dx);
    }))
}

/// `(Outer, Len) -> (Outer,)`. The partial results of a row do not depend on the number of threads.
fn reduce_rows(y: &mut [f32], x: &[f32], len: usize, kind: ReductionKind) {
    let parts_per_row = len.div_ceil(ELEMENTS_PER_PART);
    if parts_per_row == 1 {
        // Each row is one part, which is its result.
        partition_rows(y.len(), len, 0).map_mut(y, 1, |rows, y| {
            let rows = row_chunks(rows.slice(x, len), len);
            vectorized!(match kind {
                ReductionKind::Max => y.iter_mut().zip(rows.clone()).for_each(|(y, x)| *y = max_or_nan(x)),
                ReductionKind::Sum | ReductionKind::Mean =>
                    y.iter_mut().zip(rows.clone()).for_each(|(y, x)| *y = sum(x)),
            });
        });
        return;
    }
    let partition = partition_rows(y.len() * parts_per_row, len.min(ELEMENTS_PER_PART), 0);
    let parts = partition.map_chunks(partition.chunks(), |parts| {
        let mut results = Vec::with_capacity(parts.len());
        vectorized!({
            for part in parts.range() {
                let (row, start) = (part / parts_per_row, part % parts_per_row * ELEMENTS_PER_PART);
                let x = &x[row * len..][start..len.min(start + ELEMENTS_PER_PART)];
                results.push(f64::from(if kind == ReductionKind::Max { max_or_nan(x) } else { sum(x) }));
            }
        });
        results
    });
    for (y, parts) in y.iter_mut().zip(parts.concat().chunks(parts_per_row.max(1))) {
        *y = match kind {
            ReductionKind::Max => parts.iter().fold(f32::NEG_INFINITY, |y, part| larger_or_nan(y, *part as f32)),
            ReductionKind::Sum | ReductionKind::Mean => parts.iter().sum::<f64>() as f32,
        };
    }
}

/// The longest axis whose rows are all added in `f32`, one after the other.
const MAX_ROWS_OF_SUM: usize = 256;
/// A longer axis is summed in parts of this many rows, and [`SumsInParts`] joins the parts in `f64`.
const ROWS_PER_PART: usize = 64;

/// `(Outer, Len, Inner) -> (Outer, Inner)`. Each thread has some of the columns.
fn reduce_columns(y: &mut [f32], x: &[f32], axis: MiddleAxis, kind: ReductionKind) {
    partition_rows(y.len(), axis.len, 0).map_mut(y, 1, |columns, mut y| {
        let first = if kind == ReductionKind::Max { f32::NEG_INFINITY } else { 0.0 };
        vectorized!({
            for (block, columns) in parts_of_blocks(columns, axis.inner) {
                let (results, rest) = mem::take(&mut y).split_at_mut(columns.len());
                y = rest;
                let block = &x[block * axis.block_len()..][..axis.block_len()];
                if kind == ReductionKind::Max || axis.len <= MAX_ROWS_OF_SUM {
                    results.fill(first);
                    join_rows(results, block, axis.inner, columns, kind);
                    continue;
                }
                let mut sums = SumsInParts::zeros(columns.len());
                for rows in row_chunks(block, ROWS_PER_PART * axis.inner) {
                    let part = sums.part_for(ROWS_PER_PART * columns.len());
                    join_rows(part, rows, axis.inner, columns.clone(), kind);
                }
                results.copy_from_slice(&sums.into_total());
            }
        });
    });
}

/// Shorter rows are first joined [`ROWS_AT_ONCE`] at a time, as one wide row of whole vectors.
const MIN_ROW_LEN: usize = 16;
const ROWS_AT_ONCE: usize = 16;

/// [`join_row`] for some columns of each row.
#[inline(always)]
fn join_rows(results: &mut [f32], rows: &[f32], row_len: usize, columns: Range<usize>, kind: ReductionKind) {
    let wide_len = ROWS_AT_ONCE * row_len;
    let mut wide;
    let rows = if row_len < MIN_ROW_LEN && rows.len() > 2 * wide_len {
        wide = [if kind == ReductionKind::Max { f32::NEG_INFINITY } else { 0.0 }; ROWS_AT_ONCE * MIN_ROW_LEN];
        for rows in row_chunks(rows, wide_len) {
            join_row(&mut wide[..wide_len], rows, kind);
        }
        &wide[..wide_len]
    } else {
        rows
    };
    for row in row_chunks(rows, row_len) {
        join_row(results, &row[columns.clone()], kind);
    }
}

/// Adds a row to the sums, or replaces smaller elements.
#[inline(always)]
fn join_row(results: &mut [f32], row: &[f32], kind: ReductionKind) {
    match kind {
        ReductionKind::Max => results.iter_mut().zip(row).for_each(|(y, x)| *y = larger_or_nan(*y, *x)),
        ReductionKind::Sum | ReductionKind::Mean => add_row(results, row),
    }
}

/// `(Outer, Len, Inner)`: divides each gradient by the number of largest elements, which is 0 if `y` is NaN.
fn divide_among_largest(dy: &mut [f32], y: &[f32], x: &[f32], axis: MiddleAxis) {
    partition_rows(dy.len(), axis.len, 0).map_mut(dy, 1, |columns, mut dy| {
        let mut counts = Buffer::recycled(axis.inner.min(dy.len()));
        vectorized!({
            for (block, columns) in parts_of_blocks(columns, axis.inner) {
                let (part, rest) = mem::take(&mut dy).split_at_mut(columns.len());
                dy = rest;
                let x = &x[block * axis.block_len()..][..axis.block_len()];
                let y = &y[block * axis.inner..][columns.clone()];
                let counts = &mut counts[..columns.len()];
                counts.fill(0.0);
                if axis.inner == 1 {
                    counts[0] = x.iter().filter(|x| **x == y[0]).count() as f32;
                } else {
                    for row in row_chunks(x, axis.inner) {
                        izip!(&mut *counts, &row[columns.clone()], y).for_each(|(n, x, y)| *n += f32::from(x == y));
                    }
                }
                part.iter_mut().zip(counts).for_each(|(dy, count)| *dy /= *count);
            }
        });
    });
}

/// `(N, Inner)`: the gradient of a sum or a mean goes to all of its elements, that of a maximum to the largest ones.
#[inline(always)]
fn write_gradients(dx: &mut [f32], x: &[f32], y: &[f32], dy: &[f32], kind: ReductionKind) {
    // `0 · ∞` makes NaN of the gradient where `y` is NaN.
    let gradient = |x: f32, y: f32, dy: f32| if kind == ReductionKind::Max { f32::from(x == y) * dy } else { dy };
    if let (&[y], &[dy]) = (y, dy) {
        return dx.iter_mut().zip(x).for_each(|(dx, x)| *dx = gradient(*x, y, dy));
    }
    for (dx, x) in dx.chunks_exact_mut(y.len()).zip(x.chunks_exact(y.len())) {
        izip!(dx, x, y, dy).for_each(|(dx, x, y, dy)| *dx = gradient(*x, *y, *dy));
    }
}

/// The parts of a range that lie in one block of `len`: the block, and the range in it.
#[inline(always)]
fn parts_of_blocks(range: Chunk, len: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = range.start();
    let end = start + range.len();
    iter::from_fn(move || {
        (start < end).then(|| {
            let (block, first) = (start / len, start % len);
            let part = first..len.min(first + end - start);
            start += part.len();
            (block, part)
        })
    })
}

/// The cumulative sums along an axis. The gradient is the cumulative sum from the other end.
pub fn cumsum_kernel(input: Operand, axis: MiddleAxis) -> Result<KernelOutput, CpuError> {
    let block_len = axis.block_len();
    let partition = partition_rows(axis.outer, block_len, 0);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, block_len, |blocks, y| {
        y.copy_from_slice(blocks.slice(input.elements(), block_len));
        row_chunks_mut(y, block_len).for_each(|block| sum_rows(block.chunks_mut(axis.inner), axis.inner));
    });
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        partition.map_chunks(partition.split_mut(&mut dy, block_len), |dy| {
            row_chunks_mut(dy, block_len).for_each(|block| sum_rows(block.chunks_mut(axis.inner).rev(), axis.inner));
        });
        input.add(gradients, dy);
    }))
}

/// Adds to each row all rows before it. The sums are `f64`, so that they do not round more as they grow.
fn sum_rows<'a>(mut rows: impl Iterator<Item = &'a mut [f32]>, inner: usize) {
    if inner == 1 {
        // One sum stays in a register.
        let mut sum = 0.0;
        return rows.flatten().for_each(|x| {
            sum += f64::from(*x);
            *x = sum as f32;
        });
    }
    let mut sums = vec![0.0; inner];
    vectorized!({
        for row in &mut rows {
            for (x, sum) in row.iter_mut().zip(&mut sums) {
                *sum += f64::from(*x);
                *x = *sum as f32;
            }
        }
    });
}
