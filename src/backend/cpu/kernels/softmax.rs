use super::MiddleAxis;
use crate::autograd::{Buffer, KernelOutput, Operand, partition_rows, with_backward};
use crate::simd::{dot, exp, max, row_chunks, row_chunks_mut, sum, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;

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
