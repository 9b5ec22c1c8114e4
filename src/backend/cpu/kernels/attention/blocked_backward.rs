use super::score_block::{
    KEYS_PER_BLOCK, QUERIES_PER_BLOCK, Sequence, block_stride, blocks, multiply_block, pack_rows, pack_transposed,
};
use crate::autograd::{Buffer, Chunk};
use crate::matmul::Matrix;
use crate::simd::{ElementOps, VectorElements, add_assign, add_row, dot, exp_element, padded_len};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// The gradients of [`BlockedForward`](super::blocked_forward::BlockedForward): overwrites those of query, key and
/// value, and adds to that of the bias. The weights of each block are computed again
/// ([*FlashAttention-2*](https://arxiv.org/abs/2307.08691), algorithm 2).
pub struct BlockedBackward<'a> {
    /// Heads of the keys, each with the group of the queries' heads that share it.
    pub key_value_heads: Chunk,
    /// For each position, the columns of these heads.
    pub dq: Vec<&'a mut [f32]>,
    pub dk: Vec<&'a mut [f32]>,
    pub dv: Vec<&'a mut [f32]>,
    pub d_out: &'a [f32],
    pub out: &'a [f32],
    pub softmax_stats: &'a [f32],
    /// `(Heads, Q, K)`: the sum of the bias' gradients over the sequences; empty without a bias.
    pub d_bias: &'a mut [f32],
    pub sequence: &'a Sequence<'a>,
}

impl WithSimd for BlockedBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let &Sequence { q, k, v, bias, ref mask, dropout, config } = self.sequence;
        let (c, dims, scale) = (VectorElements(simd), config.dims, config.scale);
        let (qk_len, vo_len) = (padded_len(dims.qk_dim), padded_len(dims.vo_dim));
        let stride = block_stride(dims.keys);
        let [mut weights, mut d_logits] = [(); 2].map(|()| Buffer::recycled(QUERIES_PER_BLOCK * stride));
        let mut dq = Buffer::recycled(dims.queries * qk_len);
        let mut dk = Buffer::recycled(stride * qk_len);
        let mut dv = Buffer::recycled(stride * vo_len);
        let mut weighted_means = Buffer::recycled(dims.queries);
        let mut visible = [false; KEYS_PER_BLOCK];
        let mut packed = [(); 3].map(|()| Buffer::recycled(0));
        for (head_in_chunk, head) in dims.heads_of(self.key_value_heads).enumerate() {
            let q = dims.query_head(q, head, dims.qk_dim);
            let k = dims.key_value_head(k, head / dims.group_size(), dims.qk_dim);
            let v = dims.key_value_head(v, head / dims.group_size(), dims.vo_dim);
            let d_out = dims.query_head(self.d_out, head, dims.vo_dim);
            let out = dims.query_head(self.out, head, dims.vo_dim);
            let is_first = dims.is_first_of_group(head);
            if is_first {
                packed = [pack_transposed(k), pack_transposed(v), pack_rows(k, 1.0)];
            }
            let [k_t, v_t, k_rows] = &packed;
            // With scaled queries, the product with the keys is the logits.
            let (q_rows, d_out_rows) = (pack_rows(q, scale), pack_rows(d_out, 1.0));
            let q = Matrix::strided(&q_rows, dims.queries, dims.qk_dim, qk_len);
            let softmax_stats = &self.softmax_stats[head_in_chunk * 2 * dims.queries..][..2 * dims.queries];
            let (max_logits, inv_sums) = softmax_stats.split_at(dims.queries);
            // The mean of the gradients of a query's weights, weighted by the weights: `Σ w dw = out · d_out`.
            let rows = out.contiguous_rows().into_iter().flatten().zip(d_out.contiguous_rows().into_iter().flatten());
            for (weighted_mean, (out, d_out)) in weighted_means.iter_mut().zip(rows) {
                *weighted_mean = dot(out, d_out);
            }
            dq.fill(0.0);
            for keys in blocks(dims.keys, KEYS_PER_BLOCK) {
                dk.fill(0.0);
                dv.fill(0.0);
                for queries in blocks(dims.queries, QUERIES_PER_BLOCK) {
                    if !mask.has_weights(&keys, queries.clone()) {
                        continue;
                    }
                    let key_ends = mask.key_ends(&keys, queries.clone());
                    for (scores, a, b_t) in [(&mut weights, q, k_t), (&mut d_logits, d_out, v_t)] {
                        multiply_block(
                            simd,
                            scores,
                            stride,
                            false,
                            a.row_range(queries.clone()),
                            &b_t[keys.start * a.columns()..],
                            stride,
                            |_| 0..a.columns(),
                            |rows| key_ends.max(rows),
                        );
                    }
                    let width = padded_len(key_ends.max(0..queries.len()));
                    let rows = weights.chunks_exact_mut(stride).zip(d_logits.chunks_exact_mut(stride));
                    for ((query, len), (weights, d_logits)) in queries.clone().zip(key_ends.iter()).zip(rows) {
                        let place = dims.weight_index(head, query, keys.start);
                        // Still logits; the loop below makes weights of them.
                        if let Some(bias) = bias {
                            add_row(&mut weights[..len], &bias[place..]);
                        }
                        let visible = mask.mask_logits(&mut weights[..len], query, keys.start, &mut visible);
                        if let Some(dropout) = dropout {
                            dropout.apply(&mut d_logits[..len], place);
                        }
                        let [max_logit, inv_sum] = [c.splat(max_logits[query]), c.splat(inv_sums[query])];
                        let weighted_mean = c.splat(weighted_means[query]);
                        let weight_vectors = S::as_mut_simd_f32s(&mut weights[..width]).0;
                        let d_logit_vectors = S::as_mut_simd_f32s(&mut d_logits[..width]).0;
                        for (weight, d_logit) in weight_vectors.iter_mut().zip(d_logit_vectors) {
                            *weight = c.mul(exp_element(c, c.sub(*weight, max_logit)), inv_sum);
                            *d_logit = c.mul(*weight, c.sub(*d_logit, weighted_mean));
                        }
                        if let Some(dropout) = dropout {
                            dropout.apply(&mut weights[..len], place);
                        }
                        // Tiles of the products below may reach beyond `width`.
                        weights[len..].fill(0.0);
                        d_logits[len..].fill(0.0);
                        if mask.hides_gradients() {
                            for (d_logit, visible) in d_logits.iter_mut().zip(visible) {
                                *d_logit = if *visible { *d_logit } else { 0.0 };
                            }
                        }
                        if bias.is_some() {
                            add_row(
                                &mut self.d_bias[dims.weight_index(head_in_chunk, query, keys.start)..],
                                &d_logits[..len],
                            );
                        }
                    }
                    let view = |scores| Matrix::strided(scores, queries.len(), keys.len(), stride);
                    let dq = &mut dq[queries.start * qk_len..];
                    multiply_block(
                        simd,
                        dq,
                        qk_len,
                        true,
                        view(&d_logits),
                        &k_rows[keys.start * qk_len..],
                        qk_len,
                        |rows| 0..key_ends.max(rows),
                        |_| dims.qk_dim,
                    );
                    // Sums over queries begin with the first query that sees one of these keys.
                    let seeing = |block_keys: Range<usize>| {
                        mask.first_query_seeing(keys.start + block_keys.start, queries.clone())..queries.len()
                    };
                    for (sums, len, a, b) in
                        [(&mut dk, qk_len, &d_logits, &q_rows), (&mut dv, vo_len, &weights, &d_out_rows)]
                    {
                        let b = &b[queries.start * len..];
                        multiply_block(simd, sums, len, true, view(a).transposed(), b, len, seeing, |_| len);
                    }
                }
                // The gradient of a key is the sum over the heads that share it.
                let key_value_head = head_in_chunk / dims.group_size();
                scatter(&mut self.dk[keys.clone()], key_value_head * dims.qk_dim, dims.qk_dim, &dk, qk_len, !is_first);
                scatter(&mut self.dv[keys.clone()], key_value_head * dims.vo_dim, dims.vo_dim, &dv, vo_len, !is_first);
            }
            dq.iter_mut().for_each(|dq| *dq *= scale);
            scatter(&mut self.dq, head_in_chunk * dims.qk_dim, dims.qk_dim, &dq, qk_len, false);
        }
    }
}

/// Copies padded rows to the columns of one head, or adds them if `accumulate`.
fn scatter(out: &mut [&mut [f32]], start: usize, dim: usize, padded: &[f32], padded_len: usize, accumulate: bool) {
    for (out, row) in out.iter_mut().zip(padded.chunks_exact(padded_len.max(1))) {
        let (out, row) = (&mut out[start..][..dim], &row[..dim]);
        if accumulate { add_assign(out, row) } else { out.copy_from_slice(row) }
    }
}
