use super::AttentionConfig;
use super::score_block::{
    KEYS_PER_BLOCK, QUERIES_PER_BLOCK, SequenceDropout, SequenceMask, block_stride, blocks, multiply_block, pack_rows,
    pack_transposed,
};
use crate::autograd::{Buffer, Chunk};
use crate::matmul::Matrix;
use crate::simd::{ElementOps, VectorElements, add_row, dot, exp, exp_element, max, padded_len};
use pulp::{Simd, WithSimd};

/// With fewer queries, scores are products of rows in place. Packing the keys would take longer.
const MIN_QUERIES_TO_PACK: usize = 4;

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
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
    /// `(H, Q, K)`: a term of the logits.
    pub bias: Option<&'a [f32]>,
    pub mask: &'a SequenceMask<'a>,
    pub dropout: Option<SequenceDropout<'a>>,
    pub config: AttentionConfig,
}

impl WithSimd for BlockedForward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let dims = self.config.dims;
        let (qk_len, vo_len) = (padded_len(dims.qk_dim), padded_len(dims.vo_dim));
        let stride = block_stride(dims.keys);
        let mut scores = Buffer::recycled(QUERIES_PER_BLOCK * stride);
        let mut sums = Buffer::recycled(QUERIES_PER_BLOCK * vo_len);
        let mut visible = [false; KEYS_PER_BLOCK];
        let softmax_stats = self.softmax_stats.chunks_exact_mut((2 * dims.queries).max(1));
        let mut packed = None;
        for ((i, head), softmax_stats) in dims.heads_of(self.key_value_heads).enumerate().zip(softmax_stats) {
            // With scaled queries, the product with the keys is the logits.
            let q = pack_rows(dims.query_head(self.q, head, dims.qk_dim), self.config.scale);
            let q = Matrix::strided(&q, dims.queries, dims.qk_dim, qk_len);
            let k = dims.key_value_head(self.k, head / dims.group_size(), dims.qk_dim);
            let v = dims.key_value_head(self.v, head / dims.group_size(), dims.vo_dim);
            if dims.is_first_of_group(head) {
                packed = (dims.queries >= MIN_QUERIES_TO_PACK).then(|| (pack_transposed(k), pack_rows(v, 1.0)));
            }
            let (max_logits, sum_exps) = softmax_stats.split_at_mut(dims.queries);
            // A finite start keeps logits of -∞ from becoming NaN.
            max_logits.fill(f32::MIN);
            sum_exps.fill(0.0);
            for queries in blocks(dims.queries, QUERIES_PER_BLOCK) {
                sums[..queries.len() * vo_len].fill(0.0);
                let visible_keys = self.mask.visible_keys(queries.clone());
                for keys in blocks(dims.keys, KEYS_PER_BLOCK) {
                    if keys.end <= visible_keys.start || visible_keys.end <= keys.start {
                        continue;
                    }
                    let key_ends = self.mask.key_ends(&keys, queries.clone());
                    match &packed {
                        Some((k_t, _)) => multiply_block(
                            simd,
                            &mut scores,
                            stride,
                            false,
                            q.row_range(queries.clone()),
                            &k_t[keys.start * dims.qk_dim..],
                            stride,
                            |_| 0..dims.qk_dim,
                            |rows| key_ends.max(rows),
                        ),
                        None => {
                            multiply_rows(&mut scores, stride, q.row_range(queries.clone()), k.row_range(keys.clone()))
                        }
                    }
                    let width = padded_len(key_ends.max(0..queries.len()));
                    let rows = scores.chunks_exact_mut(stride).zip(sums.chunks_exact_mut(vo_len.max(1)));
                    for ((query, len), (row, sums)) in queries.clone().zip(key_ends.iter()).zip(rows) {
                        let row = &mut row[..width];
                        if let Some(bias) = self.bias {
                            add_row(&mut row[..len], &bias[dims.weight_index(head, query, keys.start)..]);
                        }
                        self.mask.mask_logits(&mut row[..len], query, keys.start, &mut visible);
                        online_softmax(simd, row, len, sums, &mut max_logits[query], &mut sum_exps[query]);
                        if let Some(dropout) = self.dropout {
                            dropout.apply(&mut row[..len], dims.weight_index(head, query, keys.start));
                        }
                    }
                    let weights = Matrix::strided(&scores, queries.len(), width.min(keys.len()), stride);
                    match &packed {
                        Some((_, v)) => multiply_block(
                            simd,
                            &mut sums,
                            vo_len,
                            true,
                            weights,
                            &v[keys.start * vo_len..],
                            vo_len,
                            |rows| 0..key_ends.max(rows),
                            |_| dims.vo_dim,
                        ),
                        None => add_weighted_rows(&mut sums, vo_len, weights, v.row_range(keys)),
                    }
                }
                for (query, sums) in queries.zip(sums.chunks_exact(vo_len.max(1))) {
                    let sum_exp = &mut sum_exps[query];
                    *sum_exp = 1.0 / *sum_exp;
                    let out = &mut self.out[query][i * dims.vo_dim..][..dims.vo_dim];
                    for (out, sum) in out.iter_mut().zip(sums) {
                        *out = sum * *sum_exp;
                    }
                }
            }
        }
    }
}

/// One step of the online softmax. The first `len` elements of `row` are logits, which become `exp(logit - max_logit)`.
/// The rest, up to a whole number of vectors, becomes 0. If the logits raise `max_logit`, the weighted values so far,
/// `sums`, and `sum_exp` are rescaled.
#[inline(always)]
fn online_softmax<S: Simd>(
    simd: S,
    row: &mut [f32],
    len: usize,
    sums: &mut [f32],
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
        for sum in sums {
            *sum *= factor;
        }
    }
    let c = VectorElements(simd);
    let max_logits = c.splat(*max_logit);
    let sum_exps =
        c.map_in_place_and_sum(S::as_mut_simd_f32s(row).0, |logits| exp_element(c, c.sub(logits, max_logits)));
    *sum_exp += simd.reduce_sum_f32s(sum_exps);
}

/// `(Q, Dim), (K, Dim) -> (Q, stride)`: `a bᵀ`.
#[inline(always)]
fn multiply_rows(scores: &mut [f32], stride: usize, a: Matrix, b: Matrix) {
    for (scores, a) in scores.chunks_exact_mut(stride).zip(a.contiguous_rows().into_iter().flatten()) {
        for (score, b) in scores.iter_mut().zip(b.contiguous_rows().into_iter().flatten()) {
            *score = dot(a, b);
        }
    }
}

/// `(Q, K), (K, Dim) -> (Q, Dim)`: `sums += weights v`.
#[inline(always)]
fn add_weighted_rows(sums: &mut [f32], stride: usize, weights: Matrix, v: Matrix) {
    for (sums, weights) in sums.chunks_exact_mut(stride.max(1)).zip(weights.contiguous_rows().into_iter().flatten()) {
        for (weight, v) in weights.iter().zip(v.contiguous_rows().into_iter().flatten()) {
            for (sum, v) in sums.iter_mut().zip(v) {
                *sum += weight * v;
            }
        }
    }
}
