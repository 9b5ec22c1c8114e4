//! The forward pass of attention by blocks of scores, and that of few queries, which reads keys and values in place.

use super::score_block::{
    KEYS_PER_BLOCK, QUERIES_PER_BLOCK, Sequence, block_stride, blocks, multiply_block, pack_rows, pack_transposed,
};
use crate::autograd::{Buffer, Chunk};
use crate::matmul::Matrix;
use crate::simd::{ElementOps, VectorElements, add_row, dot, exp, max, padded_len};
use pulp::{Simd, WithSimd};

/// Attention of some key and value heads of one sequence, a block of scores at a time, with an online softmax
/// ([*FlashAttention*](https://arxiv.org/abs/2205.14135), algorithm 1, and
/// [*FlashAttention-2*](https://arxiv.org/abs/2307.08691), algorithm 1). No row of scores is kept.
pub struct BlockedForward<'a> {
    /// Heads of the keys, each with the group of the queries' heads that share it.
    pub key_value_heads: Chunk,
    /// For each query, the columns of these heads.
    pub out: Vec<&'a mut [f32]>,
    /// `(Heads, 2, Q)`: the largest logit of each query, and `1 / Σ exp`. During the loop the second is `Σ exp`.
    pub softmax_stats: &'a mut [f32],
    pub sequence: &'a Sequence<'a>,
}

impl WithSimd for BlockedForward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let &Sequence { q, k, v, bias, ref mask, dropout, config } = self.sequence;
        let dims = config.dims;
        if dims.queries < MIN_QUERIES_TO_PACK {
            return self.attend_few_queries(simd);
        }
        let (qk_len, vo_len) = (padded_len(dims.qk_dim), padded_len(dims.vo_dim));
        let stride = block_stride(dims.keys);
        let mut scores = Buffer::recycled(QUERIES_PER_BLOCK * stride);
        let mut weighted_sums = Buffer::recycled(QUERIES_PER_BLOCK * vo_len);
        let mut visible = [false; KEYS_PER_BLOCK];
        let softmax_stats = self.softmax_stats.chunks_exact_mut((2 * dims.queries).max(1));
        let (mut packed_k, mut packed_v) = (Buffer::recycled(0), Buffer::recycled(0));
        for ((i, head), softmax_stats) in dims.heads_of(self.key_value_heads).enumerate().zip(softmax_stats) {
            // With scaled queries, the product with the keys is the logits.
            let q = pack_rows(dims.query_head(q, head, dims.qk_dim), config.scale);
            let q = Matrix::strided(&q, dims.queries, dims.qk_dim, qk_len);
            let k = dims.key_value_head(k, head / dims.group_size(), dims.qk_dim);
            let v = dims.key_value_head(v, head / dims.group_size(), dims.vo_dim);
            if dims.is_first_of_group(head) {
                (packed_k, packed_v) = (pack_transposed(k), pack_rows(v, 1.0));
            }
            let (max_logits, sum_exps) = softmax_stats.split_at_mut(dims.queries);
            // A finite start keeps logits of -∞ from becoming NaN.
            max_logits.fill(f32::MIN);
            sum_exps.fill(0.0);
            for queries in blocks(dims.queries, QUERIES_PER_BLOCK) {
                weighted_sums[..queries.len() * vo_len].fill(0.0);
                for keys in blocks(dims.keys, KEYS_PER_BLOCK) {
                    if !mask.has_weights(&keys, queries.clone()) {
                        continue;
                    }
                    let key_ends = mask.key_ends(&keys, queries.clone());
                    multiply_block(
                        simd,
                        &mut scores,
                        stride,
                        false,
                        q.row_range(queries.clone()),
                        &packed_k[keys.start * dims.qk_dim..],
                        stride,
                        |_| 0..dims.qk_dim,
                        |rows| key_ends.max(rows),
                    );
                    let width = padded_len(key_ends.max(0..queries.len()));
                    let rows = scores.chunks_exact_mut(stride).zip(weighted_sums.chunks_exact_mut(vo_len.max(1)));
                    for ((query, len), (row, weighted_sums)) in queries.clone().zip(key_ends.iter()).zip(rows) {
                        let row = &mut row[..width];
                        if let Some(bias) = bias {
                            add_row(&mut row[..len], &bias[dims.weight_index(head, query, keys.start)..]);
                        }
                        mask.mask_logits(&mut row[..len], query, keys.start, &mut visible);
                        online_softmax(simd, row, len, weighted_sums, &mut max_logits[query], &mut sum_exps[query]);
                        if let Some(dropout) = dropout {
                            dropout.apply(&mut row[..len], dims.weight_index(head, query, keys.start));
                        }
                    }
                    let weights = Matrix::strided(&scores, queries.len(), width.min(keys.len()), stride);
                    multiply_block(
                        simd,
                        &mut weighted_sums,
                        vo_len,
                        true,
                        weights,
                        &packed_v[keys.start * vo_len..],
                        vo_len,
                        |rows| 0..key_ends.max(rows),
                        |_| dims.vo_dim,
                    );
                }
                for (query, weighted_sums) in queries.zip(weighted_sums.chunks_exact(vo_len.max(1))) {
                    let sum_exp = &mut sum_exps[query];
                    *sum_exp = 1.0 / *sum_exp;
                    let out = &mut self.out[query][i * dims.vo_dim..][..dims.vo_dim];
                    for (out, sum) in out.iter_mut().zip(weighted_sums) {
                        *out = sum * *sum_exp;
                    }
                }
            }
        }
    }
}

/// One step of the online softmax. The first `len` elements of `row` are logits, which become `exp(logit - max_logit)`.
/// The rest, up to a whole number of vectors, becomes 0. If the logits raise `max_logit`, the weighted sums of the
/// values so far and `sum_exp` are rescaled.
#[inline(always)]
fn online_softmax<S: Simd>(
    simd: S,
    row: &mut [f32],
    len: usize,
    weighted_sums: &mut [f32],
    max_logit: &mut f32,
    sum_exp: &mut f32,
) {
    let (logits, padding) = row.split_at_mut(len);
    if logits.is_empty() {
        return padding.fill(0.0);
    }
    padding.fill(f32::NEG_INFINITY);
    let largest = max(logits);
    if largest > *max_logit {
        let factor = exp(*max_logit - largest);
        *max_logit = largest;
        *sum_exp *= factor;
        for sum in weighted_sums {
            *sum *= factor;
        }
    }
    let ops = VectorElements(simd);
    let sum_exps = ops.exp_in_place_and_sum(S::as_mut_simd_f32s(row).0, ops.splat(*max_logit));
    *sum_exp += simd.reduce_sum_f32s(sum_exps);
}

/// With fewer queries, keys and values are read in place. Packing them would take longer.
const MIN_QUERIES_TO_PACK: usize = 4;

impl BlockedForward<'_> {
    /// The attention of few queries, such as that of a decoded token. Each key and each value is read once, for all
    /// heads of the chunk. The heads of one key are neighbours in memory.
    #[inline(always)]
    fn attend_few_queries<S: Simd>(mut self, simd: S) {
        let &Sequence { q, k, v, bias, ref mask, dropout, config } = self.sequence;
        let dims = config.dims;
        let heads = dims.heads_of(self.key_value_heads);
        let (qk_len, vo_len) = (padded_len(dims.qk_dim), padded_len(dims.vo_dim));
        let stride = block_stride(dims.keys);
        // `q_rows`, `scores` and `weighted_sums` have a row for each head and query.
        let mut q_rows = Vec::with_capacity(heads.len());
        let mut scores = Buffer::recycled(heads.len() * dims.queries * stride);
        let mut weighted_sums = Buffer::zeros(heads.len() * dims.queries * vo_len);
        for (i, head) in heads.clone().enumerate() {
            // With scaled queries, the product with the keys is the logits.
            q_rows.push(pack_rows(dims.query_head(q, head, dims.qk_dim), config.scale));
            let (max_logits, sum_exps) = self.softmax_stats[2 * i * dims.queries..].split_at_mut(dims.queries);
            // A finite start keeps logits of -∞ from becoming NaN.
            max_logits.fill(f32::MIN);
            sum_exps[..dims.queries].fill(0.0);
        }
        let (k_len, v_len) = (dims.key_value_heads * dims.qk_dim, dims.key_value_heads * dims.vo_dim);
        let mut visible = [false; KEYS_PER_BLOCK];
        for keys in blocks(dims.keys, KEYS_PER_BLOCK) {
            if !mask.has_weights(&keys, 0..dims.queries) {
                continue;
            }
            let key_ends = mask.key_ends(&keys, 0..dims.queries);
            let len = key_ends.max(0..dims.queries);
            for (key, k) in k[keys.start * k_len..].chunks_exact(k_len.max(1)).take(len).enumerate() {
                for (i, head) in heads.clone().enumerate() {
                    let k = &k[head / dims.group_size() * dims.qk_dim..][..dims.qk_dim];
                    for query in 0..dims.queries {
                        let q = &q_rows[i][query * qk_len..][..dims.qk_dim];
                        scores[(i * dims.queries + query) * stride + key] = dot(q, k);
                    }
                }
            }
            for (i, head) in heads.clone().enumerate() {
                let (max_logits, sum_exps) = self.softmax_stats[2 * i * dims.queries..].split_at_mut(dims.queries);
                for (query, num_keys) in (0..dims.queries).zip(key_ends.iter()) {
                    let index = i * dims.queries + query;
                    let weighted_sums = &mut weighted_sums[index * vo_len..][..vo_len];
                    let row = &mut scores[index * stride..][..padded_len(len)];
                    if let Some(bias) = bias {
                        add_row(&mut row[..num_keys], &bias[dims.weight_index(head, query, keys.start)..]);
                    }
                    mask.mask_logits(&mut row[..num_keys], query, keys.start, &mut visible);
                    online_softmax(simd, row, num_keys, weighted_sums, &mut max_logits[query], &mut sum_exps[query]);
                    if let Some(dropout) = dropout {
                        dropout.apply(&mut row[..num_keys], dims.weight_index(head, query, keys.start));
                    }
                }
            }
            for (key, v) in v[keys.start * v_len..].chunks_exact(v_len.max(1)).take(len).enumerate() {
                for (i, head) in heads.clone().enumerate() {
                    let v = &v[head / dims.group_size() * dims.vo_dim..][..dims.vo_dim];
                    for row in i * dims.queries..(i + 1) * dims.queries {
                        let weight = scores[row * stride + key];
                        for (sum, v) in weighted_sums[row * vo_len..][..dims.vo_dim].iter_mut().zip(v) {
                            *sum += weight * v;
                        }
                    }
                }
            }
        }
        for i in 0..heads.len() {
            for query in 0..dims.queries {
                let sum_exp = &mut self.softmax_stats[(2 * i + 1) * dims.queries + query];
                *sum_exp = 1.0 / *sum_exp;
                let weighted_sums = &weighted_sums[(i * dims.queries + query) * vo_len..];
                for (out, sum) in self.out[query][i * dims.vo_dim..][..dims.vo_dim].iter_mut().zip(weighted_sums) {
                    *out = sum * *sum_exp;
                }
            }
        }
    }
}
