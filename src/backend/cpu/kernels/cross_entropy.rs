use crate::backend::cpu::{
    autograd::{KernelOutput, Operand, Partition, with_backward},
    simd::{dispatch_simd, exp, max, row_chunks, row_chunks_mut, sum},
};
use dfdx::tensor::CpuError;
use itertools::izip;
use std::sync::Arc;

/// The cost of a logit, in multiply-adds.
const MACS_PER_LOGIT: usize = 16;
/// The number of logits in a block, which stays in the first-level cache from one pass to the next.
const LOGITS_PER_BLOCK: usize = 4096;

/// The smoothed label distribution: `on_value + off_value` on the label, `off_value` on every other token.
#[derive(Clone, Copy)]
struct Smoothing {
    on_value: f32,
    off_value: f32,
}

/// `(N, V), (N,), (N,) -> ()`: the cross-entropy of smoothed labels, weighted by position. Forward and
/// backward each pass over memory once. The log-probabilities are never written to memory.
pub fn cross_entropy_kernel(
    mut logits: Operand,
    vocab_size: usize,
    labels: Arc<[usize]>,
    position_weights: Vec<f32>,
    smoothing: f64,
) -> Result<KernelOutput, CpuError> {
    let smoothing = Smoothing { on_value: (1.0 - smoothing) as f32, off_value: smoothing as f32 / vocab_size as f32 };
    let partition = Partition::new(position_weights.len(), MACS_PER_LOGIT * vocab_size, usize::MAX);
    // The copy of the logits becomes the probabilities.
    let chunks = partition.ranges().zip(partition.split_mut(&mut logits.elements, vocab_size));
    let losses = partition.map_chunks(chunks, |(rows, logits)| {
        let rows_per_block = LOGITS_PER_BLOCK.div_ceil(vocab_size.max(1));
        let blocks = izip!(
            row_chunks_mut(logits, rows_per_block * vocab_size),
            row_chunks(rows.of(&labels, 1), rows_per_block),
            row_chunks(rows.of(&position_weights, 1), rows_per_block),
        );
        blocks
            .map(|(logits, labels, position_weights)| {
                cross_entropy_forward(logits, vocab_size, labels, position_weights, smoothing)
            })
            .sum::<f64>()
    });
    let loss = losses.iter().sum::<f64>() as f32;
    let output = logits.new_tensor(vec![loss])?;

    Ok(with_backward(output, move |d_loss, gradients| {
        let d_loss: f32 = d_loss.iter().sum();
        let d_logits = gradients.get_or_alloc_mut(&logits.tensor)?;
        let chunks = partition.ranges().zip(partition.split_mut(d_logits, vocab_size));
        partition.map_chunks(chunks, |(rows, d_logits)| {
            let probabilities = rows.of(&logits.elements, vocab_size);
            let (labels, position_weights) = (rows.of(&labels, 1), rows.of(&position_weights, 1));
            cross_entropy_backward(d_logits, d_loss, probabilities, vocab_size, labels, position_weights, smoothing);
        });
        Ok(())
    }))
}

/// `(N, V), (N,), (N,) -> ()`: the sum of the weighted losses; the logits become probabilities.
fn cross_entropy_forward(
    logits: &mut [f32],
    vocab_size: usize,
    labels: &[usize],
    position_weights: &[f32],
    Smoothing { on_value, off_value }: Smoothing,
) -> f64 {
    let mut loss = 0.0;
    dispatch_simd(
        #[inline(always)]
        || {
            for (row, &label, &weight) in izip!(row_chunks_mut(logits, vocab_size), labels, position_weights) {
                // Positions of weight 0 are zeroed first: 0 × ∞ would be NaN.
                if weight == 0.0 {
                    row.fill(0.0);
                }
                let max_logit = max(row);
                for logit in row.iter_mut() {
                    *logit -= max_logit;
                }
                let mut target_logit = on_value * row[label];
                if off_value != 0.0 {
                    target_logit += off_value * sum(row);
                }
                loss -= f64::from(weight) * f64::from(target_logit);
            }
            // One loop over all rows, because the length of a row is seldom a multiple of a vector's.
            for logit in logits.iter_mut() {
                *logit = exp(*logit);
            }
            for (row, &weight) in row_chunks_mut(logits, vocab_size).zip(position_weights) {
                let sum_exp = sum(row);
                let scale = 1.0 / sum_exp;
                for p in row.iter_mut() {
                    *p *= scale;
                }
                loss += f64::from(weight) * f64::from(sum_exp.ln());
            }
        },
    );
    loss
}

/// `(), (N, V), (N,), (N,) -> (N, V)`: `d_logits += d_loss · weight · (p - label distribution)`.
fn cross_entropy_backward(
    d_logits: &mut [f32],
    d_loss: f32,
    probabilities: &[f32],
    vocab_size: usize,
    labels: &[usize],
    position_weights: &[f32],
    Smoothing { on_value, off_value }: Smoothing,
) {
    let rows = row_chunks_mut(d_logits, vocab_size).zip(row_chunks(probabilities, vocab_size));
    for ((d_row, probabilities), &label, weight) in izip!(rows, labels, position_weights) {
        for (d_logit, p) in d_row.iter_mut().zip(probabilities) {
            *d_logit += d_loss * weight * (p - off_value);
        }
        d_row[label] -= d_loss * weight * on_value;
    }
}
