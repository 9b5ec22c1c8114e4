//! The softmax along an axis, its logarithm, and the cross-entropy of logits.

use super::MiddleAxis;
use crate::autograd::{Buffer, KernelOutput, Operand, partition_rows, with_backward};
use crate::simd::{dot, exp, max, row_chunks, row_chunks_mut, sum, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;
use std::sync::Arc;

/// The cost of an exponential, in multiply-adds.
const MACS_PER_EXP: usize = 32;

/// `softmax(x)` along an axis, or its logarithm.
pub fn softmax_kernel(input: Operand, axis: MiddleAxis, is_log: bool) -> Result<KernelOutput, CpuError> {
    let partition = partition_rows(axis.outer, axis.block_len(), MACS_PER_EXP);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, axis.block_len(), |blocks, y| {
        let mut columns = [(); 2].map(|()| Buffer::recycled(axis.inner));
        let x = blocks.slice(input.elements(), axis.block_len());
        vectorized!({
            for (y, x) in row_chunks_mut(y, axis.block_len()).zip(row_chunks(x, axis.block_len())) {
                match axis.inner {
                    1 => forward_row(y, x, is_log),
                    _ => forward_block(y, x, &mut columns, is_log),
                }
            }
        });
    });
    let output = input.new_tensor(y)?;
    let y = Operand::without_gradient(&output);

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        partition.map_mut(&mut dy, axis.block_len(), |blocks, dy| {
            let mut sums = Buffer::recycled(axis.inner);
            let y = blocks.slice(y.elements(), axis.block_len());
            vectorized!({
                for (dy, y) in row_chunks_mut(dy, axis.block_len()).zip(row_chunks(y, axis.block_len())) {
                    match axis.inner {
                        1 => backward_row(dy, y, is_log),
                        _ => backward_block(dy, y, &mut sums, is_log),
                    }
                }
            });
        });
        input.add(gradients, dy);
    }))
}

#[inline(always)]
fn forward_row(y: &mut [f32], x: &[f32], is_log: bool) {
    let max_x = max(x);
    for (y, x) in y.iter_mut().zip(x) {
        *y = exp(x - max_x);
    }
    let sum_exp = sum(y);
    match is_log {
        true => {
            // `max x + log Σ` would lose the digits of the logarithm beside a large maximum.
            let log_sum_exp = sum_exp.ln();
            y.iter_mut().zip(x).for_each(|(y, x)| *y = (x - max_x) - log_sum_exp);
        }
        false => y.iter_mut().for_each(|y| *y *= 1.0 / sum_exp),
    }
}

/// Every column has a softmax of its own.
#[inline(always)]
fn forward_block(y: &mut [f32], x: &[f32], [max_x, sum_exp]: &mut [Buffer; 2], is_log: bool) {
    let inner = max_x.len();
    max_x.fill(f32::NEG_INFINITY);
    for row in x.chunks_exact(inner) {
        max_x.iter_mut().zip(row).for_each(|(max_x, x)| *max_x = if *x > *max_x { *x } else { *max_x });
    }
    sum_exp.fill(0.0);
    for (y, x) in y.chunks_exact_mut(inner).zip(x.chunks_exact(inner)) {
        for (y, x, max_x, sum_exp) in izip!(y, x, max_x.iter(), sum_exp.iter_mut()) {
            *y = exp(x - max_x);
            *sum_exp += *y;
        }
    }
    if !is_log {
        for y in y.chunks_exact_mut(inner) {
            y.iter_mut().zip(sum_exp.iter()).for_each(|(y, sum_exp)| *y /= sum_exp);
        }
        return;
    }
    let log_sum_exp = sum_exp;
    log_sum_exp.iter_mut().for_each(|sum_exp| *sum_exp = sum_exp.ln());
    for (y, x) in y.chunks_exact_mut(inner).zip(x.chunks_exact(inner)) {
        izip!(y, x, max_x.iter(), log_sum_exp.iter())
            .for_each(|(y, x, max_x, log_sum_exp)| *y = (x - max_x) - log_sum_exp);
    }
}

/// `dx = y (dy - Σ dy y)`, or `dy - eʸ Σ dy` of the logarithm, in place of `dy`.
#[inline(always)]
fn backward_row(dy: &mut [f32], y: &[f32], is_log: bool) {
    match is_log {
        true => {
            let sum_dy = sum(dy);
            dy.iter_mut().zip(y).for_each(|(d, y)| *d -= exp(*y) * sum_dy);
        }
        false => {
            let sum_dy_y = dot(dy, y);
            dy.iter_mut().zip(y).for_each(|(d, y)| *d = y * (*d - sum_dy_y));
        }
    }
}

#[inline(always)]
fn backward_block(dy: &mut [f32], y: &[f32], sums: &mut [f32], is_log: bool) {
    let inner = sums.len();
    sums.fill(0.0);
    for (dy, y) in dy.chunks_exact(inner).zip(y.chunks_exact(inner)) {
        for (sum, d, y) in izip!(sums.iter_mut(), dy, y) {
            *sum += if is_log { *d } else { d * y };
        }
    }
    for (dy, y) in dy.chunks_exact_mut(inner).zip(y.chunks_exact(inner)) {
        for (d, y, sum) in izip!(dy, y, sums.iter()) {
            *d = if is_log { *d - exp(*y) * sum } else { y * (*d - sum) };
        }
    }
}

/// The number of logits in a block, which stays in the first-level cache from one pass to the next.
const LOGITS_PER_BLOCK: usize = 4096;

/// The numbers that forward saves of a row. Backward recomputes its probabilities, `exp(logit - max) / sum_exp`.
#[derive(Clone, Copy)]
struct SoftmaxStats {
    max_logit: f32,
    inv_sum_exp: f32,
}

/// `(N, V), (N,), (N,) -> ()`: the cross-entropy of smoothed labels, weighted by position. Forward and
/// backward each pass over memory once. Neither probabilities nor their logarithms are written to memory.
pub fn cross_entropy_kernel(
    logits: Operand,
    vocab_size: usize,
    labels: Arc<[usize]>,
    position_weights: Vec<f32>,
    smoothing: f64,
) -> Result<KernelOutput, CpuError> {
    let (on_value, off_value) = ((1.0 - smoothing) as f32, smoothing as f32 / vocab_size as f32);
    let partition = partition_rows(position_weights.len(), vocab_size, 0);
    let block = Block { rows: LOGITS_PER_BLOCK.div_ceil(vocab_size.max(1)), vocab_size, on_value, off_value };
    let parts = partition.map_chunks(partition.chunks(), |rows| {
        let mut saved = Vec::with_capacity(rows.len());
        let mut exps = Buffer::recycled(block.rows * vocab_size);
        let blocks = izip!(
            row_chunks(rows.slice(logits.elements(), vocab_size), block.rows * vocab_size),
            row_chunks(rows.slice(&labels, 1), block.rows),
            row_chunks(rows.slice(&position_weights, 1), block.rows),
        );
        let losses = blocks.map(|(logits, labels, position_weights)| {
            block.forward(&mut saved, &mut exps, logits, labels, position_weights)
        });
        (losses.sum::<f64>(), saved)
    });
    let loss = parts.iter().map(|(loss, _)| loss).sum::<f64>() as f32;
    let output = logits.new_tensor(vec![loss])?;

    Ok(with_backward(output, move |d_loss, gradients| {
        let d_loss: f32 = d_loss.iter().sum();
        let mut d_logits = Buffer::recycled(logits.len());
        let chunks = izip!(partition.chunks(), partition.split_mut(&mut d_logits, vocab_size), &parts);
        partition.map_chunks(chunks, |(rows, d_logits, (_, saved))| {
            let mut exps = Buffer::recycled(block.rows * vocab_size);
            let blocks = izip!(
                row_chunks_mut(d_logits, block.rows * vocab_size),
                row_chunks(rows.slice(logits.elements(), vocab_size), block.rows * vocab_size),
                row_chunks(rows.slice(&labels, 1), block.rows),
                row_chunks(rows.slice(&position_weights, 1), block.rows),
                row_chunks(saved, block.rows),
            );
            for (d_logits, logits, labels, position_weights, saved) in blocks {
                let scales = izip!(labels, position_weights, saved);
                let scales = scales.map(|(&label, weight, &saved)| (label, d_loss * weight, saved));
                block.backward(d_logits, &mut exps, logits, scales);
            }
        });
        logits.gradient.add(gradients, d_logits);
    }))
}

/// A few rows of logits and their smoothed labels: `on_value + off_value` on the label, `off_value` on any other token.
#[derive(Clone, Copy)]
struct Block {
    rows: usize,
    vocab_size: usize,
    on_value: f32,
    off_value: f32,
}

impl Block {
    /// `(N, V), (N,), (N,) -> ()`: the sum of the weighted losses. `exps` is scratch memory.
    fn forward(
        self,
        saved: &mut Vec<SoftmaxStats>,
        exps: &mut [f32],
        logits: &[f32],
        labels: &[usize],
        position_weights: &[f32],
    ) -> f64 {
        let exps = &mut exps[..logits.len()];
        let mut loss = 0.0;
        vectorized!({
            let first = saved.len();
            let rows = row_chunks_mut(exps, self.vocab_size).zip(row_chunks(logits, self.vocab_size));
            for ((row, logits), &label, &weight) in izip!(rows, labels, position_weights) {
                let max_logit = max(logits);
                saved.push(SoftmaxStats { max_logit, inv_sum_exp: 0.0 });
                subtract(row, logits, max_logit, weight);
                // The mean of `logit - max_logit` under the smoothed label.
                let mut mean_logit = self.on_value * row[label];
                if self.off_value != 0.0 {
                    mean_logit += self.off_value * sum(row);
                }
                loss -= f64::from(weight) * f64::from(mean_logit);
            }
            exp_assign(exps);
            let rows = row_chunks(exps, self.vocab_size).zip(&mut saved[first..]);
            for ((row, saved), &weight) in rows.zip(position_weights) {
                let sum_exp = sum(row);
                saved.inv_sum_exp = 1.0 / sum_exp;
                loss += f64::from(weight) * f64::from(sum_exp.ln());
            }
        });
        loss
    }

    /// `(N, V), (N,) -> (N, V)`: `d_logits = scale · (p - label distribution)`, given the label, the scale and the
    /// saved values of each row. `exps` is scratch memory.
    fn backward(
        self,
        d_logits: &mut [f32],
        exps: &mut [f32],
        logits: &[f32],
        rows: impl Iterator<Item = (usize, f32, SoftmaxStats)> + Clone,
    ) {
        let exps = &mut exps[..logits.len()];
        vectorized!({
            let all = row_chunks_mut(exps, self.vocab_size).zip(row_chunks(logits, self.vocab_size));
            for ((row, logits), (_, scale, saved)) in all.zip(rows.clone()) {
                subtract(row, logits, saved.max_logit, scale);
            }
            exp_assign(exps);
            let all = row_chunks_mut(d_logits, self.vocab_size).zip(row_chunks(exps, self.vocab_size));
            for ((d_row, row), (label, scale, saved)) in all.zip(rows.clone()) {
                for (d_logit, exp) in d_row.iter_mut().zip(row) {
                    *d_logit = scale * (exp * saved.inv_sum_exp - self.off_value);
                }
                d_row[label] -= scale * self.on_value;
            }
        });
    }
}

/// `row = logits - max_logit`, or 0 if the weight of the row is 0, because 0 × ∞ would be NaN.
#[inline(always)]
fn subtract(row: &mut [f32], logits: &[f32], max_logit: f32, weight: f32) {
    if weight == 0.0 {
        return row.fill(0.0);
    }
    for (x, logit) in row.iter_mut().zip(logits) {
        *x = logit - max_logit;
    }
}

/// `eˣ` in place. One loop over all rows, because the length of a row is seldom a multiple of a vector's.
#[inline(always)]
fn exp_assign(rows: &mut [f32]) {
    for x in rows {
        *x = exp(*x);
    }
}
