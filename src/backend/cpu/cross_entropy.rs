use super::{gradient, math::exp, read, vectorized};
use crate::{
    ops::{Average, weights},
    tokens::TokenIds,
};
use dfdx::{
    shapes::{ConstDim, Dim, Rank0},
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};

/// From logits to the loss, and to its gradient, in one pass each; the log-probabilities are never
/// written out.
pub fn cross_entropy<B: Dim, S: Dim, V: ConstDim, T: Tape<f32, Cpu>>(
    logits: Tensor<(B, S, V), f32, Cpu, T>,
    labels: &TokenIds<B, S, V>,
    average: Average,
    smoothing: f64,
) -> Result<Tensor<Rank0, f32, Cpu, T>, CpuError> {
    let (logits, mut tape) = logits.try_contiguous()?.split_tape();
    let weights: Vec<f32> = weights(labels, average);
    // The share of a label that is on its token alone, and the share that is on every token.
    let (own, any) = ((1.0 - smoothing) as f32, smoothing as f32 / V::SIZE as f32);
    // Begins as the logits and becomes the probabilities.
    let mut probabilities = read(&logits);
    let mut loss = 0.0;
    vectorized(
        #[inline(always)]
        || {
            let rows = probabilities.chunks_exact_mut(V::SIZE.max(1));
            for ((row, &label), &weight) in rows.zip(labels.as_slice()).zip(&weights) {
                let mut highest = f32::NEG_INFINITY;
                for logit in row.iter() {
                    highest = highest.max(*logit);
                }
                let mut right = own * (row[label] - highest);
                if any != 0.0 {
                    for logit in row.iter() {
                        right += any * (logit - highest);
                    }
                }
                let mut sum = 0.0;
                for logit in row.iter_mut() {
                    *logit = exp(*logit - highest);
                    sum += *logit;
                }
                for p in row.iter_mut() {
                    *p /= sum;
                }
                loss += f64::from(weight) * f64::from(sum.ln() - right);
            }
        },
    );
    let output = logits.device().try_tensor_from_vec(vec![loss as f32], ())?;

    if T::OWNS_TAPE {
        let (labels, logits, out) = (labels.clone(), logits.ghost(), output.ghost());
        tape.add_backward_op(move |gradients| {
            let scale: f32 = gradients.get_or_alloc_mut(&out)?.iter().sum();
            let dx = gradient!(gradients, logits);
            let rows = dx
                .chunks_exact_mut(V::SIZE.max(1))
                .zip(probabilities.chunks_exact(V::SIZE.max(1)));
            for (((dx, row), &label), weight) in rows.zip(labels.as_slice()).zip(&weights) {
                for (dx, p) in dx.iter_mut().zip(row) {
                    *dx += scale * weight * (p - any);
                }
                dx[label] -= scale * weight * own;
            }
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}
