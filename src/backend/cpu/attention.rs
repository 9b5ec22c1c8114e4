use super::{add_assign, gradient, math::exp, read};
use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::MaskedLogit,
};
use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};
use pulp::Arch;
use rayon::prelude::*;

/// Head by head on what lies side by side in memory: nothing is permuted, and of scores only the
/// weights are written out, and only for the gradients.
pub fn attention<
    B: Dim,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    T: Tape<f32, Cpu>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), f32, Cpu, T>,
    key: Tensor<(B, K, Product<H, QKDim>), f32, Cpu, T>,
    value: Tensor<(B, K, Product<H, VODim>), f32, Cpu, T>,
    mask: &AttentionMask<B, Q, K>,
    masked: MaskedLogit,
) -> Result<Tensor<(B, Q, Product<H, VODim>), f32, Cpu, T>, CpuError> {
    let ((batch, queries, _), (_, keys, _)) = (*query.shape(), *key.shape());
    let (query, tape) = query.try_contiguous()?.split_tape();
    let (key, key_tape) = key.try_contiguous()?.split_tape();
    let (value, value_tape) = value.try_contiguous()?.split_tape();
    let mut tape = tape.merge(key_tape.merge(value_tape));

    let sizes = Sizes {
        queries: queries.size(),
        keys: keys.size(),
        heads: H::SIZE,
        qk: QKDim::SIZE,
        vo: VODim::SIZE,
    };
    let (q, k, v) = (read(&query), read(&key), read(&value));
    let mask = mask.clone();
    let mut y = vec![0.0; batch.size() * sizes.y()];
    let mut weights = vec![0.0; batch.size() * sizes.weights()];
    let outputs = rows_mut(&mut y, sizes.y()).zip(rows_mut(&mut weights, sizes.weights()));
    let inputs = rows(&q, sizes.q())
        .zip(rows(&k, sizes.k()))
        .zip(rows(&v, sizes.v()));
    let work = outputs.zip(inputs).zip(rows(mask.as_slice(), sizes.mask()));
    for_each(
        work.collect(),
        sizes.cost(),
        |(((y, weights), ((q, k), v)), visible)| {
            sizes.forward(q, k, v, visible, masked, weights, y);
        },
    );
    let shape = (batch, queries, Product::default());
    let output = query.device().try_tensor_from_vec(y, shape)?;

    if T::OWNS_TAPE {
        let (query, key, value) = (query.ghost(), key.ghost(), value.ghost());
        let out = output.ghost();
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            let mut dq = vec![0.0; q.len()];
            let mut dk = vec![0.0; k.len()];
            let mut dv = vec![0.0; v.len()];
            let outputs = rows_mut(&mut dq, sizes.q())
                .zip(rows_mut(&mut dk, sizes.k()))
                .zip(rows_mut(&mut dv, sizes.v()));
            let inputs = rows(&q, sizes.q())
                .zip(rows(&k, sizes.k()))
                .zip(rows(&v, sizes.v()));
            let known = rows(mask.as_slice(), sizes.mask())
                .zip(rows(&weights, sizes.weights()))
                .zip(rows(&dy, sizes.y()));
            let work = outputs.zip(inputs).zip(known).collect();
            for_each(work, 2 * sizes.cost(), |((outputs, inputs), known)| {
                sizes.backward(inputs, known, masked, outputs);
            });
            add_assign(gradient!(gradients, query), &dq);
            add_assign(gradient!(gradients, key), &dk);
            add_assign(gradient!(gradients, value), &dv);
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}

/// The part of each batch row.
fn rows<Element>(all: &[Element], size: usize) -> std::slice::ChunksExact<'_, Element> {
    all.chunks_exact(size.max(1))
}

/// The part of each batch row.
fn rows_mut(all: &mut [f32], size: usize) -> std::slice::ChunksExactMut<'_, f32> {
    all.chunks_exact_mut(size.max(1))
}

/// Runs `row` on every row, on all threads if `cost` multiply-adds a row are worth it.
fn for_each<Row: Send>(rows: Vec<Row>, cost: usize, row: impl Fn(Row) + Send + Sync) {
    if rows.len() * cost < 1 << 20 {
        rows.into_iter().for_each(row);
    } else {
        rows.into_par_iter().for_each(row);
    }
}

/// The sizes of one batch row.
#[derive(Clone, Copy)]
struct Sizes {
    queries: usize,
    keys: usize,
    heads: usize,
    qk: usize,
    vo: usize,
}

impl Sizes {
    fn q(self) -> usize {
        self.queries * self.heads * self.qk
    }
    fn k(self) -> usize {
        self.keys * self.heads * self.qk
    }
    fn v(self) -> usize {
        self.keys * self.heads * self.vo
    }
    fn y(self) -> usize {
        self.queries * self.heads * self.vo
    }
    fn mask(self) -> usize {
        self.queries * self.keys
    }
    fn weights(self) -> usize {
        self.heads * self.queries * self.keys
    }
    fn cost(self) -> usize {
        self.weights() * (self.qk + self.vo)
    }

    /// `1 / √QKDim`
    fn scale(self) -> f32 {
        1.0 / (self.qk as f32).sqrt()
    }

    /// The vector of `position` and `head` in what holds `size` elements a head.
    #[inline(always)]
    fn at(self, position: usize, head: usize, size: usize) -> std::ops::Range<usize> {
        let first = (position * self.heads + head) * size;
        first..first + size
    }

    /// `columns[i * keys + key] = rows[key][i]` for one head, so that loops over keys are contiguous.
    #[inline(always)]
    fn transpose(self, rows: &[f32], head: usize, size: usize, columns: &mut [f32]) {
        for key in 0..self.keys {
            for (i, element) in rows[self.at(key, head, size)].iter().enumerate() {
                columns[i * self.keys + key] = *element;
            }
        }
    }

    /// One batch row: `weights = softmax(q kᵀ · scale)` where visible, `y = weights v`.
    #[allow(clippy::too_many_arguments)]
    fn forward(
        self,
        q: &[f32],
        k: &[f32],
        v: &[f32],
        visible: &[bool],
        masked: MaskedLogit,
        weights: &mut [f32],
        y: &mut [f32],
    ) {
        let mut k_columns = vec![0.0; self.keys * self.qk];
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for head in 0..self.heads {
                    self.transpose(k, head, self.qk, &mut k_columns);
                    for query in 0..self.queries {
                        let row = (head * self.queries + query) * self.keys;
                        let logits = &mut weights[row..][..self.keys];
                        let q = &q[self.at(query, head, self.qk)];
                        weighted_sum(logits, q, &k_columns, self.scale());
                        hide(logits, &visible[query * self.keys..][..self.keys], masked);
                        softmax(logits);
                        let y = &mut y[self.at(query, head, self.vo)];
                        for (key, weight) in logits.iter().enumerate() {
                            add_scaled(y, &v[self.at(key, head, self.vo)], *weight);
                        }
                    }
                }
            },
        );
    }

    /// One batch row: the gradients of query, key and value from that of the output.
    fn backward(
        self,
        ((q, k), v): ((&[f32], &[f32]), &[f32]),
        ((visible, weights), dy): ((&[bool], &[f32]), &[f32]),
        masked: MaskedLogit,
        ((dq, dk), dv): ((&mut [f32], &mut [f32]), &mut [f32]),
    ) {
        let mut v_columns = vec![0.0; self.keys * self.vo];
        let mut slopes = vec![0.0; self.keys];
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for head in 0..self.heads {
                    self.transpose(v, head, self.vo, &mut v_columns);
                    for query in 0..self.queries {
                        let row = (head * self.queries + query) * self.keys;
                        let weights = &weights[row..][..self.keys];
                        let dy = &dy[self.at(query, head, self.vo)];
                        // From the weights' gradient to the logits': dℓ = w (dw - Σ w dw).
                        slopes.fill(0.0);
                        weighted_sum(&mut slopes, dy, &v_columns, 1.0);
                        let mean: f32 = slopes.iter().zip(weights).map(|(d, w)| d * w).sum();
                        for (slope, weight) in slopes.iter_mut().zip(weights) {
                            *slope = weight * (*slope - mean) * self.scale();
                        }
                        if masked == MaskedLogit::Lowest {
                            // A hidden logit is a constant, whatever its weight came to be.
                            let visible = &visible[query * self.keys..][..self.keys];
                            for (slope, visible) in slopes.iter_mut().zip(visible) {
                                *slope = if *visible { *slope } else { 0.0 };
                            }
                        }
                        for key in 0..self.keys {
                            let (at_q, at_k) =
                                (self.at(query, head, self.qk), self.at(key, head, self.qk));
                            add_scaled(&mut dv[self.at(key, head, self.vo)], dy, weights[key]);
                            add_scaled(&mut dk[at_k.clone()], &q[at_q.clone()], slopes[key]);
                            add_scaled(&mut dq[at_q], &k[at_k], slopes[key]);
                        }
                    }
                }
            },
        );
    }
}

/// `to += Σᵢ scale · factors[i] · row i of rows`, the rows as long as `to`.
#[inline(always)]
fn weighted_sum(to: &mut [f32], factors: &[f32], rows: &[f32], scale: f32) {
    for (factor, row) in factors.iter().zip(rows.chunks_exact(to.len().max(1))) {
        add_scaled(to, row, factor * scale);
    }
}

/// `to += factor · from`
#[inline(always)]
fn add_scaled(to: &mut [f32], from: &[f32], factor: f32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

#[inline(always)]
fn hide(logits: &mut [f32], visible: &[bool], masked: MaskedLogit) {
    for (logit, visible) in logits.iter_mut().zip(visible) {
        let hidden = match masked {
            MaskedLogit::Lowest => f32::MIN,
            MaskedLogit::Minus(amount) => *logit - amount as f32,
        };
        *logit = if *visible { *logit } else { hidden };
    }
}

#[inline(always)]
fn softmax(logits: &mut [f32]) {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits
        .iter_mut()
        .for_each(|logit| *logit = exp(*logit - highest));
    let scale = 1.0 / logits.iter().sum::<f32>();
    logits.iter_mut().for_each(|weight| *weight *= scale);
}
