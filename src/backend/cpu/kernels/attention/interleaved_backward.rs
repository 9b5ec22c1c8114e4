use super::AttentionConfig;
use super::interleave::{head_view, multiply_lanes};
use super::interleaved_mask::{VisibleBounds, mask_values};
use crate::autograd::Buffer;
use crate::conventions::MaskFill;
use crate::matmul::{Extent, Matrix};
use crate::simd::{ElementOps, VectorElements, row_chunks};
use pulp::{Simd, WithSimd};

/// `(Q, H·VO) -> (Q, H·QK), (K, H·QK), (K, H·VO)` of one sequence for each lane: overwrites the gradients of query, key
/// and value, given the gradient of the output. Every argument is interleaved except `mask`.
pub(super) struct InterleavedBackward<'a> {
    pub dq: &'a mut [f32],
    pub dk: &'a mut [f32],
    pub dv: &'a mut [f32],
    pub d_out: &'a [f32],
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
    pub weights: &'a [f32],
    pub mask: &'a [bool],
    pub config: AttentionConfig,
}

impl WithSimd for InterleavedBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let c = VectorElements(simd);
        let Self { dq, dk, dv, d_out, q, k, v, weights, mask, config } = self;
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
