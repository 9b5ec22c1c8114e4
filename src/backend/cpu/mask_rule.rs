use std::{ops::Range, sync::Arc};

/// The keys that each query sees, without the dimensions' types. A rule takes memory for each position, a matrix for
/// each query and key.
#[derive(Clone)]
pub struct MaskRule {
    batch: usize,
    queries: usize,
    keys: usize,
    /// `(B, Q, K)`: whether each query sees each key. The fields below do not count if there is a matrix.
    matrix: Option<Arc<[bool]>>,
    /// A key is visible if the band and the fields below allow it.
    band: Option<Band>,
    /// `(B, Q)`: a query that is padding sees no key.
    query_is_token: Option<Arc<[bool]>>,
    /// `(B, K)`: no query sees a key that is padding.
    key_is_token: Option<Arc<[bool]>>,
}

/// The keys around its own position that a query sees. Query `q` is at position `start + q`. It sees the key there, the
/// ones before it, and, if the band is not causal, the ones after it; with a window `w`, at most `w - 1` on each side.
#[derive(Clone, Copy)]
struct Band {
    start: usize,
    window: Option<usize>,
    is_causal: bool,
}

impl Band {
    /// The keys that a query sees, of `keys` in all.
    fn keys(self, query: usize, keys: usize) -> Range<usize> {
        let position = self.start.saturating_add(query);
        let window = self.window.unwrap_or(usize::MAX);
        let start = position.saturating_add(1).saturating_sub(window);
        let end = position.saturating_add(if self.is_causal { 1 } else { window });
        start.min(keys)..end.max(start).min(keys)
    }
}

impl MaskRule {
    /// A matrix `(B, Q, K)`.
    pub fn from_matrix(sizes: (usize, usize, usize), visible: Arc<[bool]>) -> Self {
        Self { matrix: Some(visible), ..Self::all_visible(sizes) }
    }

    /// Every query sees every key.
    pub fn all_visible((batch, queries, keys): (usize, usize, usize)) -> Self {
        Self { batch, queries, keys, matrix: None, band: None, query_is_token: None, key_is_token: None }
    }

    /// Query `q` is at position `start + q`. Hides the keys after it, and those before its window.
    pub fn causal_from(self, start: usize, window: Option<usize>) -> Self {
        Self { band: Some(Band { start, window, is_causal: true }), ..self }
    }

    /// Query `q` is at position `q`. Hides the keys that are `window` or more positions before or after it.
    pub fn within(self, window: usize) -> Self {
        Self { band: Some(Band { start: 0, window: Some(window), is_causal: false }), ..self }
    }

    /// Hides all keys from queries `(B, Q)` that are padding.
    pub fn hide_padded_queries(self, is_token: &Arc<[bool]>) -> Self {
        Self { query_is_token: is_token.contains(&false).then(|| is_token.clone()), ..self }
    }

    /// Hides the keys `(B, K)` that are padding.
    pub fn hide_padded_keys(self, is_token: &Arc<[bool]>) -> Self {
        Self { key_is_token: is_token.contains(&false).then(|| is_token.clone()), ..self }
    }

    pub fn batch(&self) -> usize {
        self.batch
    }

    /// `(K,)`: marks the keys that a query sees, among `keys`.
    pub fn write_visible(&self, sequence: usize, query: usize, keys: Range<usize>, visible: &mut [bool]) {
        if let Some(row) = self.matrix_row(sequence, query) {
            return visible.copy_from_slice(&row[keys]);
        }
        let seen = self.keys_in_band(sequence, query);
        let index = |key: usize| key.clamp(keys.start, keys.end) - keys.start;
        let seen = index(seen.start)..index(seen.end);
        visible.fill(false);
        match &self.key_is_token {
            Some(is_token) => {
                let is_token = &is_token[sequence * self.keys..][keys];
                visible[seen.clone()].copy_from_slice(&is_token[seen]);
            }
            None => visible[seen].fill(true),
        }
    }

    /// For each query of a sequence, the keys from the first to the last that it sees; empty if it sees none.
    pub fn seen_ranges(&self, sequence: usize) -> Vec<Range<usize>> {
        let bounds = |visible: &[bool]| {
            let first = visible.iter().position(|is_visible| *is_visible);
            let last = visible.iter().rposition(|is_visible| *is_visible);
            first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
        };
        let seen = |query: usize| {
            if let Some(row) = self.matrix_row(sequence, query) {
                return bounds(row);
            }
            let seen = self.keys_in_band(sequence, query);
            let Some(is_token) = &self.key_is_token else { return seen };
            let tokens = bounds(&is_token[sequence * self.keys..][seen.clone()]);
            seen.start + tokens.start..seen.start + tokens.end
        };
        (0..self.queries).map(seen).collect()
    }

    /// Whether a query sees every key of `seen`, its range of `seen_ranges`.
    pub fn sees_without_gaps(&self, sequence: usize, query: usize, seen: Range<usize>) -> bool {
        self.row_within_seen(sequence, query).is_none_or(|visible| !visible[seen].contains(&false))
    }

    /// Whether a query sees one of `keys`, which lie between the first and the last that it sees.
    pub fn sees_any(&self, sequence: usize, query: usize, keys: Range<usize>) -> bool {
        self.row_within_seen(sequence, query).is_none_or(|visible| visible[keys].contains(&true))
    }

    /// `(K,)`: whether each key in the query's range of `seen_ranges` is visible; `None` if all of these are. The keys
    /// out of this range have any value.
    fn row_within_seen(&self, sequence: usize, query: usize) -> Option<&[bool]> {
        let padding = || Some(&self.key_is_token.as_ref()?[sequence * self.keys..][..self.keys]);
        self.matrix_row(sequence, query).or_else(padding)
    }

    fn matrix_row(&self, sequence: usize, query: usize) -> Option<&[bool]> {
        let matrix = self.matrix.as_ref()?;
        Some(&matrix[(sequence * self.queries + query) * self.keys..][..self.keys])
    }

    /// The keys that a query sees if none of them is padding.
    fn keys_in_band(&self, sequence: usize, query: usize) -> Range<usize> {
        if self.query_is_token.as_ref().is_some_and(|is_token| !is_token[sequence * self.queries + query]) {
            return 0..0;
        }
        self.band.map_or(0..self.keys, |band| band.keys(query, self.keys))
    }

    /// Whether each query sees each key: `(B, Q, K)`.
    pub fn to_matrix(&self) -> Arc<[bool]> {
        if let Some(matrix) = &self.matrix {
            return matrix.clone();
        }
        let mut matrix = vec![false; self.batch * self.queries * self.keys];
        for (i, row) in matrix.chunks_mut(self.keys.max(1)).enumerate() {
            self.write_visible(i / self.queries, i % self.queries, 0..self.keys, row);
        }
        matrix.into()
    }
}
