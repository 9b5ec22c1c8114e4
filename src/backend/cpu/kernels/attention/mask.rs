use super::{AttentionDims, AttentionKernel};
use crate::{backend::MaskFill, backend::cpu::autograd::Buffer};
use std::ops::Range;

/// The causal bounds of a mask: the keys up to the last that a query sees, and the queries from the first
/// that sees a key. Outside of them all weights are 0, and nothing is computed.
pub struct VisibleRange {
    visible_lens: Vec<usize>,
    first_queries: Vec<usize>,
}

impl VisibleRange {
    /// The bounds that the masks of some sequences have in common: `(N, Q, K) -> (Q,), (K,)`.
    pub fn new(AttentionKernel { dims, mask_fill, .. }: AttentionKernel, masks: &[bool]) -> Self {
        let mut visible_lens = vec![0; dims.queries];
        for mask in masks.chunks_exact(dims.mask_len().max(1)) {
            for (visible_len, row) in visible_lens.iter_mut().zip(mask.chunks_exact(dims.keys.max(1))) {
                let len = match mask_fill {
                    // If a row sees no key, all keys have the same weight.
                    MaskFill::MinValue => {
                        row.iter().rposition(|visible| *visible).map_or(dims.keys, |last| last + 1)
                    }
                    MaskFill::Subtract(_) => dims.keys,
                };
                *visible_len = len.max(*visible_len);
            }
        }
        let mut first_queries = Vec::with_capacity(dims.keys);
        for (query, &visible_len) in visible_lens.iter().enumerate() {
            first_queries.resize(first_queries.len().max(visible_len), query);
        }
        first_queries.resize(dims.keys, dims.queries);
        Self { visible_lens, first_queries }
    }

    /// The number of keys up to the last that a query sees.
    #[inline(always)]
    pub fn visible_len(&self, query: usize) -> usize {
        self.visible_lens[query]
    }

    /// The number of keys up to the last that one of these queries sees.
    #[inline(always)]
    pub fn keys_seen_by(&self, queries: Range<usize>) -> usize {
        self.visible_lens[queries].iter().copied().max().unwrap_or_default()
    }

    /// The queries from the first that sees one of these keys.
    #[inline(always)]
    pub fn queries_seeing(&self, keys: Range<usize>) -> Range<usize> {
        // `first_queries` increases, so the first key decides.
        let first = self.first_queries.get(keys.start);
        first.copied().unwrap_or_default()..self.visible_lens.len()
    }
}

/// `(N, Q, K) -> (Q, K, N)`: the upper bound of each score under [`MaskFill::MinValue`], or what is added to
/// it under [`MaskFill::Subtract`], interleaved in `lanes` lanes. `None` if everything is visible.
#[inline(always)]
pub fn mask_bias(
    AttentionKernel { dims, mask_fill, .. }: AttentionKernel,
    masks: &[bool],
    lanes: usize,
) -> Option<Buffer> {
    if !masks.contains(&false) {
        return None;
    }
    let (visible_bias, hidden_bias) = match mask_fill {
        MaskFill::MinValue => (f32::INFINITY, f32::MIN),
        MaskFill::Subtract(amount) => (0.0, -amount as f32),
    };
    let mut bias = Buffer::zeros(AttentionDims::mask_len(dims) * lanes);
    for (lane, mask) in masks.chunks_exact(dims.mask_len()).enumerate() {
        for (vector, is_visible) in bias.chunks_exact_mut(lanes).zip(mask) {
            vector[lane] = if *is_visible { visible_bias } else { hidden_bias };
        }
    }
    Some(bias)
}
