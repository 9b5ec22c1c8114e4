//! The forward and the backward pass of attention on one sequence a lane.

use super::AttentionConfig;
use super::interleaved::{VisibleBounds, head_view, mask_values, multiply_lanes};
use crate::autograd::Buffer;
use crate::kernel_options::MaskFill;
use crate::matmul::{Extent, Matrix};
use crate::simd::{ElementOps, VectorElements, row_chunks, row_chunks_mut};
use pulp::{Simd, WithSimd};

/// `(Q, H·QK), (K, H·QK), (K, H·VO), (Q, K) -> (Q, H·VO), (H, Q, K)` of one sequence for each lane:
/// `weights = softmax(mask(scale · q kᵀ))`, `out = weights v`. Every argument is interleaved except `mask`.
pub(super) struct InterleavedForward<'a> {
    pub out: &'a mut [f32],
    pub weights: &'a mut [f32],
    /// Query, key and value.
    pub operands: [&'a [f32]; 3],
    pub mask: &'a [bool],
    pub config: AttentionConfig,
}

impl WithSimd for InterleavedForward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let c = VectorElements(simd);
        let Self { out, weights, operands: [q, k, v], mask, config } = self;
        let dims = config.dims;
        let scores_len = dims.queries * dims.keys * S::F32_LANES;
        let visible = VisibleBounds::new(config, mask);
        let mask_values = mask_values(config, mask, S::F32_LANES);
        for (head, weights) in row_chunks_mut(weights, scores_len).enumerate() {
            let q = head_view::<S>(q, dims, head, dims.queries, dims.qk_dim);
            let k = head_view::<S>(k, dims, head, dims.keys, dims.qk_dim);
            let v = head_view::<S>(v, dims, head, dims.keys, dims.vo_dim);
            multiply_lanes(simd, weights, dims.keys, q, k.transposed(), |queries| Extent {
                inner: 0..dims.qk_dim,
                columns: visible.key_end_of_any(queries),
            });
            let rows = S::as_mut_simd_f32s(weights).0.chunks_exact_mut(dims.keys.max(1));
            for (query, row) in rows.enumerate() {
                let (scores, hidden_tail) = row.split_at_mut(visible.key_end(query));
                hidden_tail.fill(c.splat(0.0));
                let values = mask_values.as_deref().map(|values| &S::as_simd_f32s(values).0[query * dims.keys..]);
                scale_and_mask(c, scores, values, config);
                softmax(c, scores);
            }
            let weights = Matrix::strided(weights, dims.queries, dims.keys, dims.keys);
            let out = &mut out[head * dims.vo_dim * S::F32_LANES..];
            multiply_lanes(simd, out, dims.heads * dims.vo_dim, weights, v, |queries| Extent {
                inner: 0..visible.key_end_of_any(queries),
                columns: dims.vo_dim,
            });
        }
    }
}

/// `(K,), (K,) -> (K,)`: the masked logits of one query.
#[inline(always)]
fn scale_and_mask<S: Simd>(
    c: VectorElements<S>,
    scores: &mut [S::f32s],
    mask_values: Option<&[S::f32s]>,
    config: AttentionConfig,
) {
    let scale = c.splat(config.scale);
    match (mask_values, config.mask_fill) {
        (None, _) => {
            for score in scores {
                *score = c.mul(*score, scale);
            }
        }
        (Some(values), MaskFill::MinValue) => {
            for (score, value) in scores.iter_mut().zip(values) {
                // The value of a visible key is ∞, and that of a hidden one is below 0.
                *score = c.select(c.less(*value, c.splat(0.0)), *value, c.mul(*score, scale));
            }
        }
        (Some(values), MaskFill::Subtract(_)) => {
            for (score, value) in scores.iter_mut().zip(values) {
                *score = c.add(c.mul(*score, scale), *value);
            }
        }
    }
}

/// `(K,) -> (K,)`: softmax, in place.
#[inline(always)]
fn softmax<S: Simd>(c: VectorElements<S>, logits: &mut [S::f32s]) {
    let max_logit = c.row_max(logits);
    let sum_exp = c.exp_in_place_and_sum(logits, max_logit);
    let inv_sum = c.0.div_f32s(c.splat(1.0), sum_exp);
    for weight in logits {
        *weight = c.mul(*weight, inv_sum);
    }
}

/// `(Q, H·VO) -> (Q, H·QK), (K, H·QK), (K, H·VO)` of one sequence for each lane: overwrites the gradients of query, key
/// and value, given the gradient of the output. Every argument is interleaved except `mask`.
pub(super) struct InterleavedBackward<'a> {
    pub d_operands: [&'a mut [f32]; 3],
    pub d_out: &'a [f32],
    pub operands: [&'a [f32]; 3],
    pub weights: &'a [f32],
    pub mask: &'a [bool],
    pub config: AttentionConfig,
}

impl WithSimd for InterleavedBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let c = VectorElements(simd);
        let Self { d_operands: [dq, dk, dv], d_out, operands: [q, k, v], weights, mask, config } = self;
        let dims = config.dims;
        let scores_len = dims.queries * dims.keys * S::F32_LANES;
        let mut d_scores = Buffer::recycled(scores_len);
        let visible = VisibleBounds::new(config, mask);
        let mask_values = match config.mask_fill {
            MaskFill::MinValue => mask_values(config, mask, S::F32_LANES),
            MaskFill::Subtract(_) => None,
        };
        for (head, weights) in row_chunks(weights, scores_len).enumerate() {
            let q = head_view::<S>(q, dims, head, dims.queries, dims.qk_dim);
            let k = head_view::<S>(k, dims, head, dims.keys, dims.qk_dim);
            let v = head_view::<S>(v, dims, head, dims.keys, dims.vo_dim);
            let d_out = head_view::<S>(d_out, dims, head, dims.queries, dims.vo_dim);
            multiply_lanes(simd, &mut d_scores, dims.keys, d_out, v.transposed(), |queries| Extent {
                inner: 0..dims.vo_dim,
                columns: visible.key_end_of_any(queries),
            });
            let rows = S::as_mut_simd_f32s(&mut d_scores).0.chunks_exact_mut(dims.keys.max(1));
            let rows = rows.zip(S::as_simd_f32s(weights).0.chunks_exact(dims.keys.max(1)));
            for (query, (d_row, weights)) in rows.enumerate() {
                let (d_scores, hidden_tail) = d_row.split_at_mut(visible.key_end(query));
                hidden_tail.fill(c.splat(0.0));
                let mask_values =
                    mask_values.as_deref().map(|mask_values| &S::as_simd_f32s(mask_values).0[query * dims.keys..]);
                softmax_backward(c, d_scores, weights, mask_values, config.scale);
            }

            let [weights, d_scores] =
                [weights, &d_scores].map(|elements| Matrix::strided(elements, dims.queries, dims.keys, dims.keys));
            let qk_start = head * dims.qk_dim * S::F32_LANES;
            multiply_lanes(simd, &mut dq[qk_start..], dims.heads * dims.qk_dim, d_scores, k, |queries| Extent {
                inner: 0..visible.key_end_of_any(queries),
                columns: dims.qk_dim,
            });
            let d_scores_t = d_scores.transposed();
            multiply_lanes(simd, &mut dk[qk_start..], dims.heads * dims.qk_dim, d_scores_t, q, |keys| Extent {
                inner: visible.queries_seeing(keys),
                columns: dims.qk_dim,
            });
            let dv = &mut dv[head * dims.vo_dim * S::F32_LANES..];
            multiply_lanes(simd, dv, dims.heads * dims.vo_dim, weights.transposed(), d_out, |keys| Extent {
                inner: visible.queries_seeing(keys),
                columns: dims.vo_dim,
            });
        }
    }
}

/// `(K,), (K,) -> (K,)`, in place: turns the gradient `dw` of one query's attention weights `w` into the
/// gradient of its scores, `scale · w (dw - Σ w dw)`.
#[inline(always)]
fn softmax_backward<S: Simd>(
    c: VectorElements<S>,
    d_scores: &mut [S::f32s],
    weights: &[S::f32s],
    mask_values: Option<&[S::f32s]>,
    scale: f32,
) {
    let weights = &weights[..d_scores.len()];
    let (scale, zero) = (c.splat(scale), c.splat(0.0));
    let weighted_mean = c.dot(d_scores, weights);
    for (d_score, weight) in d_scores.iter_mut().zip(weights) {
        *d_score = c.mul(c.mul(*weight, c.sub(*d_score, weighted_mean)), scale);
    }
    if let Some(mask_values) = mask_values {
        // A hidden logit is a constant, even if its attention weight is not 0.
        for (d_score, mask_value) in d_scores.iter_mut().zip(mask_values) {
            *d_score = c.select(c.less(zero, *mask_value), *d_score, zero);
        }
    }
}
