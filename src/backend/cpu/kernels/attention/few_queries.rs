use super::blocked_forward::{BlockedForward, online_softmax};
use super::score_block::{KEYS_PER_BLOCK, Sequence, block_stride, blocks, pack_rows};
use crate::autograd::Buffer;
use crate::simd::{add_row, dot, padded_len};
use pulp::Simd;

/// With fewer queries, keys and values are read in place. Packing them would take longer.
pub const MIN_QUERIES_TO_PACK: usize = 4;

impl BlockedForward<'_> {
    /// The attention of few queries, such as that of a decoded token. Each key and each value is read once, for all
    /// heads of the chunk. The heads of one key are neighbours in memory.
    #[inline(always)]
    pub fn attend_few_queries<S: Simd>(mut self, simd: S) {
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
