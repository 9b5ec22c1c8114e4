use super::{AttentionConfig, AttentionDims};
use crate::{autograd::Buffer, conventions::MaskFill};
use std::ops::Range;

/// For each query, the end of its keys with a weight. For each key, the first query for which it may have one. Outside
/// of these bounds all attention weights are 0, and nothing is computed.
pub struct VisibleBounds {
    key_ends: Vec<usize>,
    first_queries: Vec<usize>,
}

impl VisibleBounds {
    /// Bounds that hold for all of `masks`: `(N, Q, K) -> (Q,), (K,)`.
    pub fn new(AttentionConfig { dims, mask_fill, .. }: AttentionConfig, masks: &[bool]) -> Self {
        let mut key_ends = vec![0; dims.queries];
        for mask in masks.chunks_exact(dims.mask_len().max(1)) {
            for (key_end, row) in key_ends.iter_mut().zip(mask.chunks_exact(dims.keys.max(1))) {
                let len = match mask_fill {
                    // A query that sees no key attends to all keys alike.
                    MaskFill::MinValue => row.iter().rposition(|visible| *visible).map_or(dims.keys, |last| last + 1),
                    MaskFill::Subtract(_) => dims.keys,
                };
                *key_end = len.max(*key_end);
            }
        }
        let mut first_queries = Vec::with_capacity(dims.keys);
        for (query, &key_end) in key_ends.iter().enumerate() {
            // It is the first query of those keys that no earlier one reaches.
            first_queries.resize(first_queries.len().max(key_end), query);
        }
        first_queries.resize(dims.keys, dims.queries);
        Self { key_ends, first_queries }
    }

    /// The end of a query's keys with a weight.
    #[inline(always)]
    pub fn key_end(&self, query: usize) -> usize {
        self.key_ends[query]
    }

    /// The end of the keys with a weight for any of these queries.
    #[inline(always)]
    pub fn key_end_of_any(&self, queries: Range<usize>) -> usize {
        self.key_ends[queries].iter().copied().max().unwrap_or_default()
    }

    /// The first query for which any of these keys may have a weight, and all later ones.
    #[inline(always)]
    pub fn queries_seeing(&self, keys: Range<usize>) -> Range<usize> {
        // `first_queries` never decreases, so the first key has the smallest.
        let first = self.first_queries.get(keys.start);
        first.copied().unwrap_or_default()..self.key_ends.len()
    }
}

/// `(N, Q, K) -> (Q, K, N)`: the value that masks each score, interleaved in `lanes` lanes. Under
/// [`MaskFill::MinValue`] it stands in place of the score if it is below 0, and is ∞ if the key is visible. Under
/// [`MaskFill::Subtract`] it is a term to add. `None` if everything is visible.
#[inline(always)]
pub fn mask_values(
    AttentionConfig { dims, mask_fill, .. }: AttentionConfig,
    masks: &[bool],
    lanes: usize,
) -> Option<Buffer> {
    if !masks.contains(&false) {
        return None;
    }
    let (visible_value, hidden_value) = match mask_fill {
        MaskFill::MinValue => (f32::INFINITY, f32::MIN),
        MaskFill::Subtract(amount) => (0.0, -amount as f32),
    };
    let mut values = Buffer::zeros(AttentionDims::mask_len(dims) * lanes);
    for (lane, mask) in masks.chunks_exact(dims.mask_len()).enumerate() {
        for (vector, is_visible) in values.chunks_exact_mut(lanes).zip(mask) {
            vector[lane] = if *is_visible { visible_value } else { hidden_value };
        }
    }
    Some(values)
}
