//! Parts that the forward and backward passes of blocked attention share: blocks of scores, operands packed for these
//! blocks, and what both passes read of a sequence. A score is the logit of a query and a key; after the softmax it is
//! their weight.

use super::AttentionConfig;
use crate::autograd::Buffer;
use crate::kernel_options::MaskFill;
use crate::mask_rule::MaskRule;
use crate::matmul::{Extent, Matrix, multiply};
use crate::simd::{ScalarElements, VectorElements, padded_len};
use pulp::Simd;
use std::ops::Range;

/// Queries of a block of scores: a multiple of the rows of a register tile, 4 or 6, so that every tile is full.
pub const QUERIES_PER_BLOCK: usize = 48;
pub const KEYS_PER_BLOCK: usize = 128;

/// Consecutive ranges of at most `len` of `count` positions.
pub fn blocks(count: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(len).map(move |start| start..count.min(start + len))
}

/// What both passes read of one sequence.
pub struct Sequence<'a> {
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
    /// `(H, Q, K)`: a term of the logits.
    pub bias: Option<&'a [f32]>,
    pub mask: SequenceMask<'a>,
    pub dropout: Option<SequenceDropout<'a>>,
    pub config: AttentionConfig,
}

pub struct SequenceMask<'a> {
    rule: &'a MaskRule,
    sequence: usize,
    fill: MaskFill,
    /// For each query, the keys from the first to the last that has a weight, and whether some of them are hidden.
    queries: Vec<(Range<usize>, Hidden)>,
}

/// The hidden keys between the first and the last key with a weight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hidden {
    None,
    /// Their weight is 0.
    WithoutWeight,
    /// They have a weight. Either the mask only subtracts from their logits, or the query sees no key and attends to
    /// all alike.
    WithWeight,
}

impl<'a> SequenceMask<'a> {
    pub fn new(rule: &'a MaskRule, sequence: usize, config: AttentionConfig) -> Self {
        let query = |(query, visible_keys): (usize, Range<usize>)| {
            let has_no_gaps = || rule.sees_without_gaps(sequence, query, visible_keys.clone());
            match config.mask_fill {
                // A query that sees no key attends to all keys alike.
                MaskFill::MinValue if visible_keys.is_empty() => (0..config.dims.keys, Hidden::WithWeight),
                MaskFill::MinValue if has_no_gaps() => (visible_keys, Hidden::None),
                MaskFill::MinValue => (visible_keys, Hidden::WithoutWeight),
                MaskFill::Subtract(_) if visible_keys.len() == config.dims.keys && has_no_gaps() => {
                    (visible_keys, Hidden::None)
                }
                MaskFill::Subtract(_) => (0..config.dims.keys, Hidden::WithWeight),
            }
        };
        let queries = rule.seen_ranges(sequence).into_iter().enumerate().map(query).collect();
        Self { rule, sequence, fill: config.mask_fill, queries }
    }

    /// Whether a key of a block has a weight for any of these queries.
    pub fn has_weights(&self, block: &Range<usize>, queries: Range<usize>) -> bool {
        queries.clone().zip(&self.queries[queries]).any(|(query, (keys, hidden))| {
            let keys = keys.start.max(block.start)..keys.end.min(block.end);
            !keys.is_empty() && (*hidden != Hidden::WithoutWeight || self.rule.sees_any(self.sequence, query, keys))
        })
    }

    /// Where in a block the keys with a weight end, for each query.
    pub fn key_ends(&self, block: &Range<usize>, queries: Range<usize>) -> KeyEnds {
        let mut ends = [0; QUERIES_PER_BLOCK];
        for (end, (keys, _)) in ends.iter_mut().zip(&self.queries[queries]) {
            *end = keys.end.clamp(block.start, block.end) - block.start;
        }
        KeyEnds(ends)
    }

    /// The number of `queries` before the first one for which `key` or a later key has a weight.
    pub fn first_query_seeing(&self, key: usize, queries: Range<usize>) -> usize {
        let len = queries.len();
        self.queries[queries].iter().position(|(keys, _)| key < keys.end).unwrap_or(len)
    }

    /// `(Keys,)`, in place: masks the logits of a query for keys from `first_key` on. Fills `visible` and returns
    /// it: whether each key is visible. Returns an empty slice if all keys are.
    #[inline(always)]
    pub fn mask_logits<'b>(
        &self,
        logits: &mut [f32],
        query: usize,
        first_key: usize,
        visible: &'b mut [bool; KEYS_PER_BLOCK],
    ) -> &'b [bool] {
        let (visible_keys, hidden) = &self.queries[query];
        let keys = first_key..first_key + logits.len();
        if *hidden == Hidden::None && visible_keys.start <= keys.start && keys.end <= visible_keys.end {
            return &[];
        }
        let visible = &mut visible[..logits.len()];
        self.rule.write_visible(self.sequence, query, keys, visible);
        match self.fill {
            MaskFill::MinValue => {
                for (logit, visible) in logits.iter_mut().zip(&*visible) {
                    *logit = if *visible { *logit } else { f32::MIN };
                }
            }
            MaskFill::Subtract(amount) => {
                for (logit, visible) in logits.iter_mut().zip(&*visible) {
                    *logit -= if *visible { 0.0 } else { amount as f32 };
                }
            }
        }
        visible
    }

    /// Whether hidden logits are constants, which have no gradient.
    pub fn hides_gradients(&self) -> bool {
        self.fill == MaskFill::MinValue
    }
}

/// The weights of a sequence that dropout keeps, `(H, Q, K)`, and the factor that they get.
#[derive(Clone, Copy)]
pub struct SequenceDropout<'a> {
    pub is_kept: &'a [bool],
    pub factor: f32,
}

impl SequenceDropout<'_> {
    /// Applies dropout to weights, or to their gradients, from a place in `(H, Q, K)` on.
    #[inline(always)]
    pub fn apply(self, weights: &mut [f32], place: usize) {
        for (weight, is_kept) in weights.iter_mut().zip(&self.is_kept[place..]) {
            *weight *= if *is_kept { self.factor } else { 0.0 };
        }
    }
}

/// For each query of a block of scores, the end of its keys: the index in the block after the last key with a weight.
pub struct KeyEnds([usize; QUERIES_PER_BLOCK]);

impl KeyEnds {
    /// The largest end of some queries.
    #[inline(always)]
    pub fn max(&self, queries: Range<usize>) -> usize {
        self.0[queries].iter().copied().max().unwrap_or(0)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }
}

/// The elements from one query of a block of scores to the next. Blocks of few keys are narrow, so that they take less
/// of the cache.
#[inline(always)]
pub fn block_stride(keys: usize) -> usize {
    padded_len(keys).clamp(1, KEYS_PER_BLOCK)
}

/// `(K, Dim) -> (ceil(K / KEYS_PER_BLOCK), Dim, block_stride(K))`: packs the keys of each block as columns. The last
/// block is padded with zeros to whole vectors.
#[inline(always)]
pub fn pack_transposed(matrix: Matrix) -> Buffer {
    let (keys, dim) = (matrix.rows(), matrix.columns());
    let stride = block_stride(keys);
    let mut packed = Buffer::recycled(keys.div_ceil(KEYS_PER_BLOCK) * stride * dim);
    for (block, packed) in blocks(keys, KEYS_PER_BLOCK).zip(packed.chunks_exact_mut((stride * dim).max(1))) {
        let len = block.len();
        let mut rows: Vec<_> = packed.chunks_exact_mut(stride).collect();
        matrix.row_range(block).transposed().copy_to_rows(&mut rows);
        for row in rows {
            row[len..padded_len(len)].fill(0.0);
        }
    }
    packed
}

/// `(Rows, Dim)`: the matrix times `factor`, in rows that are padded with zeros to whole vectors.
#[inline(always)]
pub fn pack_rows(matrix: Matrix, factor: f32) -> Buffer {
    let width = padded_len(matrix.columns());
    let mut packed = Buffer::recycled(matrix.rows() * width);
    let rows = packed.chunks_exact_mut(width.max(1)).zip(matrix.contiguous_rows().into_iter().flatten());
    for (packed, row) in rows {
        let (packed, padding) = packed.split_at_mut(row.len());
        for (packed, element) in packed.iter_mut().zip(row) {
            *packed = element * factor;
        }
        padding.fill(0.0);
    }
    packed
}

/// `output = a b`, or `output += a b` if `accumulate`. Rows of `b` start `b_stride` elements apart, those of `output`
/// `stride`; both are multiples of a vector. For a range of rows, `inner` gives the range of the summed axis, and
/// `columns` the number of columns to compute.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn multiply_block<S: Simd>(
    simd: S,
    output: &mut [f32],
    stride: usize,
    accumulate: bool,
    a: Matrix,
    b: &[f32],
    b_stride: usize,
    inner: impl Fn(Range<usize>) -> Range<usize>,
    columns: impl Fn(Range<usize>) -> usize,
) {
    let vectors = |len: usize| padded_len(len) / S::F32_LANES;
    let output = S::as_mut_simd_f32s(output).0;
    let b = Matrix::strided(b, a.columns(), vectors(b_stride), vectors(b_stride));
    let (a, b) = ((ScalarElements(simd), a), (VectorElements(simd), b));
    multiply(simd, output, vectors(stride), accumulate, a, b, &|rows: Range<usize>| Extent {
        inner: inner(rows.clone()),
        columns: vectors(columns(rows)),
    });
}
