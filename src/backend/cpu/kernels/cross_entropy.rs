use crate::autograd::{Buffer, KernelOutput, Operand, partition_rows, with_backward};
use crate::simd::{exp, max, row_chunks, row_chunks_mut, sum, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;
use std::sync::Arc;

/// The number of logits in a block, which stays in the first-level cache from one pass to the next.
const LOGITS_PER_BLOCK: usize = 4096;

/// The numbers that forward saves of a row. Backward recomputes its probabilities, `exp(logit - max) / sum_exp`.
#[derive(Clone, Copy)]
struct RowSaved {
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
        saved: &mut Vec<RowSaved>,
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
                saved.push(RowSaved { max_logit, inv_sum_exp: 0.0 });
                subtract(row, logits, max_logit, weight);
                let mut target_logit = self.on_value * row[label];
                if self.off_value != 0.0 {
                    target_logit += self.off_value * sum(row);
                }
                loss -= f64::from(weight) * f64::from(target_logit);
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
        rows: impl Iterator<Item = (usize, f32, RowSaved)> + Clone,
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
