use super::{
    lanes::{max, sum},
    leaf::{Leaf, Output},
    math::exp,
    parallel::Share,
    rows_mut, rows_of, vectorized,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use std::sync::Arc;

/// What an element costs, in multiply-adds.
const COST: usize = 16;
/// As many logits as stay in the nearest cache from one pass to the next.
const CACHED: usize = 4096;

/// From logits to the loss, and to its gradient, in one pass over memory each; the log-probabilities
/// are never written out.
pub fn cross_entropy(
    mut logits: Leaf,
    vocabulary: usize,
    labels: Arc<[usize]>,
    weights: Vec<f32>,
    smoothing: f64,
) -> Result<Output, CpuError> {
    // The share of a label that is on its token alone, and the share that is on every token.
    let (own, any) = ((1.0 - smoothing) as f32, smoothing as f32 / vocabulary as f32);
    let share = Share::new(weights.len(), COST * vocabulary, usize::MAX);
    let width = share.chunk * vocabulary;
    // Begins as the logits and becomes the probabilities.
    let probabilities = &mut logits.elements;
    let chunks =
        izip!(rows_mut(probabilities, width), rows_of(&labels, share.chunk), rows_of(&weights, share.chunk),);
    let losses = share.for_each(chunks, |chunks| {
        let mut loss = 0.0;
        for (rows, labels, weights) in chunks {
            let at_once = CACHED.div_ceil(vocabulary.max(1));
            let blocks = izip!(
                rows_mut(rows, at_once * vocabulary),
                rows_of(labels, at_once),
                rows_of(weights, at_once),
            );
            for (rows, labels, weights) in blocks {
                loss += forward(rows, vocabulary, labels, weights, own, any);
            }
        }
        loss
    });
    let loss = losses.iter().sum::<f64>() as f32;
    let output = logits.beside(vec![loss])?;

    let out = output.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let scale: f32 = gradients.get_or_alloc_mut(&out)?.iter().sum();
        let dx = gradients.get_or_alloc_mut(&logits.tensor)?;
        let chunks = izip!(
            rows_mut(dx, width),
            rows_of(&logits.elements, width),
            rows_of(&labels, share.chunk),
            rows_of(&weights, share.chunk),
        );
        share.for_each(chunks, |chunks| {
            for (dx, probabilities, labels, weights) in chunks {
                let rows = rows_mut(dx, vocabulary).zip(rows_of(probabilities, vocabulary));
                for ((dx, row), &label, weight) in izip!(rows, labels, weights) {
                    for (dx, p) in dx.iter_mut().zip(row) {
                        *dx += scale * weight * (p - any);
                    }
                    dx[label] -= scale * weight * own;
                }
            }
        });
        Ok(())
    };
    Ok((output, Box::new(backward)))
}

/// The loss of some rows, which become probabilities; `own` is the share of a label that is on its
/// token alone, `any` the share that is on every token.
fn forward(
    rows: &mut [f32],
    vocabulary: usize,
    labels: &[usize],
    weights: &[f32],
    own: f32,
    any: f32,
) -> f64 {
    let mut loss = 0.0;
    vectorized(
        #[inline(always)]
        || {
            for (row, &label, &weight) in izip!(rows_mut(rows, vocabulary), labels, weights) {
                // What does not count must not, whatever it is: 0 times infinity is none.
                if weight == 0.0 {
                    row.fill(0.0);
                }
                let highest = max(row);
                for logit in row.iter_mut() {
                    *logit -= highest;
                }
                let mut right = own * row[label];
                if any != 0.0 {
                    right += any * sum(row);
                }
                loss -= f64::from(weight) * f64::from(right);
            }
            // Of all rows in one loop, since few rows are a multiple of a vector long.
            for logit in rows.iter_mut() {
                *logit = exp(*logit);
            }
            for (row, &weight) in rows_mut(rows, vocabulary).zip(weights) {
                let total = sum(row);
                let scale = 1.0 / total;
                for p in row.iter_mut() {
                    *p *= scale;
                }
                loss += f64::from(weight) * f64::from(total.ln());
            }
        },
    );
    loss
}
