use super::{
    AttentionConfig,
    interleaved_head::{PaddedHead, head_view, multiply_head, multiply_scores, scores_view},
    interleaved_mask::{VisibleBounds, mask_values},
};
use crate::{
    backend::MaskFill,
    backend::cpu::{
        autograd::Buffer,
        simd::{Context, WithContext, row_chunks, row_chunks_mut},
    },
};
use itertools::izip;

/// `(N, Q, H·VO) -> (N, Q, H·QK), (N, K, H·QK), (N, K, H·VO)`: overwrites the gradients of query, key and
/// value, given the gradient of the output. Every argument is interleaved except `mask`.
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

impl WithContext for InterleavedBackward<'_> {
    #[inline(always)]
    fn with_context<C: Context>(self, c: C) {
        let Self { dq, dk, dv, d_out, q, k, v, weights, mask, config } = self;
        let dims = config.dims;
        let scores_len = dims.queries * C::row_len(dims.keys) * C::ELEMENT_LEN;
        let mut d_scores = Buffer::recycled(scores_len);
        let mut v_t_padded = PaddedHead::new::<C>(dims.vo_dim, dims.keys);
        let [mut q_padded, mut dq_padded] = [(); 2].map(|()| PaddedHead::new::<C>(dims.queries, dims.qk_dim));
        let [mut k_padded, mut dk_padded] = [(); 2].map(|()| PaddedHead::new::<C>(dims.keys, dims.qk_dim));
        let mut d_out_padded = PaddedHead::new::<C>(dims.queries, dims.vo_dim);
        let mut dv_padded = PaddedHead::new::<C>(dims.keys, dims.vo_dim);
        // Each item is one sequence, or one sequence for each lane.
        let sequences = izip!(
            row_chunks_mut(dq, dims.q_len() * C::ELEMENT_LEN),
            row_chunks_mut(dk, dims.k_len() * C::ELEMENT_LEN),
            row_chunks_mut(dv, dims.v_len() * C::ELEMENT_LEN),
            row_chunks(d_out, dims.out_len() * C::ELEMENT_LEN),
            row_chunks(q, dims.q_len() * C::ELEMENT_LEN),
            row_chunks(k, dims.k_len() * C::ELEMENT_LEN),
            row_chunks(v, dims.v_len() * C::ELEMENT_LEN),
            row_chunks(weights, dims.heads * scores_len),
            row_chunks(mask, dims.mask_len() * C::ELEMENT_LEN),
        );
        for (dq, dk, dv, d_out, q, k, v, weights, mask) in sequences {
            let visible = VisibleBounds::new(config, mask);
            let bounds = match config.mask_fill {
                MaskFill::MinValue => mask_values(config, mask, C::ELEMENT_LEN),
                MaskFill::Subtract(_) => None,
            };
            for (head, weights) in row_chunks(weights, scores_len).enumerate() {
                let q = head_view::<C>(q, dims, head, dims.queries, dims.qk_dim);
                let k = head_view::<C>(k, dims, head, dims.keys, dims.qk_dim);
                let v = head_view::<C>(v, dims, head, dims.keys, dims.vo_dim);
                let d_out = head_view::<C>(d_out, dims, head, dims.queries, dims.vo_dim);
                let v_t = v_t_padded.load(c, v.transposed());
                multiply_scores(c, &mut d_scores, d_out, v_t, dims.keys, |queries| visible.visible_len_of_any(queries));
                let row_len = C::row_len(dims.keys).max(1);
                let rows = C::elements_mut(&mut d_scores).chunks_exact_mut(row_len);
                for (query, (d_row, weights)) in rows.zip(C::elements(weights).chunks_exact(row_len)).enumerate() {
                    let (d_scores, hidden_tail) = d_row.split_at_mut(C::row_len(visible.visible_len(query)));
                    hidden_tail.fill(c.splat(0.0));
                    let bounds = bounds.as_deref().map(|bounds| &C::elements(bounds)[query * dims.keys..]);
                    softmax_backward(c, d_scores, weights, bounds, config.scale);
                }

                let weights = scores_view::<C>(weights, dims);
                let d_scores = scores_view::<C>(&d_scores, dims);
                let k = k_padded.load(c, k);
                multiply_head(c, dq, dims, head, dims.qk_dim, &mut dq_padded, d_scores, k, |queries| {
                    0..visible.visible_len_of_any(queries)
                });
                let (q, d_scores_t) = (q_padded.load(c, q), d_scores.transposed());
                multiply_head(c, dk, dims, head, dims.qk_dim, &mut dk_padded, d_scores_t, q, |keys| {
                    visible.queries_seeing(keys)
                });
                let (d_out, weights_t) = (d_out_padded.load(c, d_out), weights.transposed());
                multiply_head(c, dv, dims, head, dims.vo_dim, &mut dv_padded, weights_t, d_out, |keys| {
                    visible.queries_seeing(keys)
                });
            }
        }
    }
}

/// `(K,), (K,) -> (K,)`, in place: turns the gradient `dw` of one query's attention weights `w` into the
/// gradient of its scores, `scale · w (dw - Σ w dw)`.
#[inline(always)]
fn softmax_backward<C: Context>(
    c: C,
    d_scores: &mut [C::Element],
    weights: &[C::Element],
    bounds: Option<&[C::Element]>,
    scale: f32,
) {
    let weights = &weights[..d_scores.len()];
    let (scale, zero) = (c.splat(scale), c.splat(0.0));
    let weighted_mean = c.dot(d_scores, weights);
    for (d_score, weight) in d_scores.iter_mut().zip(weights) {
        *d_score = c.mul(c.mul(*weight, c.sub(*d_score, weighted_mean)), scale);
    }
    if let Some(bounds) = bounds {
        // A hidden logit is a constant, even if its attention weight is not 0.
        for (d_score, bound) in d_scores.iter_mut().zip(bounds) {
            *d_score = c.select(c.less(zero, *bound), *d_score, zero);
        }
    }
}
