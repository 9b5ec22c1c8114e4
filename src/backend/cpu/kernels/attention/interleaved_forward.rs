use super::{
    AttentionConfig,
    interleaved_head::{PaddedHead, head_view, multiply_head, multiply_scores, scores_view},
    interleaved_mask::{VisibleBounds, mask_values},
};
use crate::{
    backend::MaskFill,
    backend::cpu::simd::{Context, WithContext, exp_element, row_chunks, row_chunks_mut},
};
use itertools::izip;

/// `(N, Q, H·QK), (N, K, H·QK), (N, K, H·VO), (N, Q, K) -> (N, Q, H·VO), (N, H, Q, K)`:
/// `weights = softmax(mask(scale · q kᵀ))`, `out = weights v`. Every argument is interleaved except `mask`.
pub(super) struct InterleavedForward<'a> {
    pub out: &'a mut [f32],
    pub weights: &'a mut [f32],
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
    pub mask: &'a [bool],
    pub config: AttentionConfig,
}

impl WithContext for InterleavedForward<'_> {
    #[inline(always)]
    fn with_context<C: Context>(self, c: C) {
        let Self { out, weights, q, k, v, mask, config } = self;
        let dims = config.dims;
        let scores_len = dims.queries * C::row_len(dims.keys) * C::ELEMENT_LEN;
        let mut k_t_padded = PaddedHead::new::<C>(dims.qk_dim, dims.keys);
        let mut v_padded = PaddedHead::new::<C>(dims.keys, dims.vo_dim);
        let mut out_padded = PaddedHead::new::<C>(dims.queries, dims.vo_dim);
        // Each item is one sequence, or one sequence for each lane.
        let sequences = izip!(
            row_chunks_mut(out, dims.out_len() * C::ELEMENT_LEN),
            row_chunks_mut(weights, dims.heads * scores_len),
            row_chunks(q, dims.q_len() * C::ELEMENT_LEN),
            row_chunks(k, dims.k_len() * C::ELEMENT_LEN),
            row_chunks(v, dims.v_len() * C::ELEMENT_LEN),
            row_chunks(mask, dims.mask_len() * C::ELEMENT_LEN),
        );
        for (out, weights, q, k, v, mask) in sequences {
            let visible = VisibleBounds::new(config, mask);
            let mask_values = mask_values(config, mask, C::ELEMENT_LEN);
            for (head, weights) in row_chunks_mut(weights, scores_len).enumerate() {
                let q = head_view::<C>(q, dims, head, dims.queries, dims.qk_dim);
                let k = head_view::<C>(k, dims, head, dims.keys, dims.qk_dim);
                let v = head_view::<C>(v, dims, head, dims.keys, dims.vo_dim);
                let k_t = k_t_padded.load(c, k.transposed());
                multiply_scores(c, weights, q, k_t, dims.keys, |queries| visible.visible_len_of_any(queries));
                let rows = C::elements_mut(weights).chunks_exact_mut(C::row_len(dims.keys).max(1));
                for (query, row) in rows.enumerate() {
                    let visible_len = visible.visible_len(query);
                    let (scores, hidden_tail) = row.split_at_mut(C::row_len(visible_len));
                    hidden_tail.fill(c.splat(0.0));
                    let (scores_seen, padding) = scores.split_at_mut(visible_len);
                    let mask_values = mask_values.as_deref().map(|values| &C::elements(values)[query * dims.keys..]);
                    scale_and_mask(c, scores_seen, mask_values, config);
                    padding.fill(c.splat(f32::NEG_INFINITY));
                    softmax(c, scores);
                }
                let v = v_padded.load(c, v);
                let weights = scores_view::<C>(weights, dims);
                multiply_head(c, out, dims, head, dims.vo_dim, &mut out_padded, weights, v, |queries| {
                    0..visible.visible_len_of_any(queries)
                });
            }
        }
    }
}

/// `(K,), (K,) -> (K,)`: the masked logits of one query.
#[inline(always)]
fn scale_and_mask<C: Context>(
    c: C,
    scores: &mut [C::Element],
    mask_values: Option<&[C::Element]>,
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
                *score = c.min(c.mul(*score, scale), *value);
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
fn softmax<C: Context>(c: C, logits: &mut [C::Element]) {
    let max_logit = c.row_max(logits);
    let sum_exp = c.map_sum(logits, |logit| exp_element(c, c.sub(logit, max_logit)));
    let inv_sum = c.div(c.splat(1.0), sum_exp);
    for weight in logits {
        *weight = c.mul(*weight, inv_sum);
    }
}
