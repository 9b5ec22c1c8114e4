//! The attention of small heads: sequences side by side, each in a lane of its own.
//!
//! A head of five numbers fills no vector register, nor does a row of fifteen keys; as many sequences
//! as there are lanes do, and no sum has to be made across lanes. The rows of such sequences lie
//! position by position, all sequences of a position together, so that what is projected from them
//! column by column is vectors already.

use super::{
    attention::{Heads, Sizes},
    buffer::Buffer,
    math::exp,
};
use crate::ops::MaskedLogit;
use pulp::{Arch, Simd, WithSimd};

/// The most numbers of keys and values of a head that stay in the nearest cache beside its queries.
const MOST: usize = 512;

/// How many sequences this processor works on side by side, if heads are small enough and sequences
/// many enough.
pub fn lanes(sizes: Sizes, sequences: usize) -> Option<usize> {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }
    let lanes = Arch::new().dispatch(Lanes);
    let has_numbers = sizes.keys * sizes.queries * sizes.qk * sizes.vo > 0;
    let is_small = sizes.keys * (sizes.qk + sizes.vo) <= MOST;
    (has_numbers && is_small && sequences >= lanes / 2).then_some(lanes)
}

/// The rows of sequences position by position; lanes without a sequence are 0.
pub fn interleave(sequences: &[f32], positions: usize, lanes: usize, rows: &mut [f32]) {
    let width = rows.len() / (positions * lanes);
    if sequences.len() < rows.len() {
        rows.fill(0.0);
    }
    for (lane, sequence) in sequences.chunks_exact(positions * width).enumerate() {
        let rows = rows.chunks_exact_mut(lanes * width);
        for (row, rows) in sequence.chunks_exact(width).zip(rows) {
            rows[lane * width..][..width].copy_from_slice(row);
        }
    }
}

/// Adds the rows of [`interleave`] to those of the sequences that they are of.
pub fn add_separated(rows: &[f32], positions: usize, lanes: usize, sequences: &mut [f32]) {
    let width = rows.len() / (positions * lanes);
    for (lane, sequence) in sequences.chunks_exact_mut(positions * width).enumerate() {
        let rows = rows.chunks_exact(lanes * width);
        for (row, rows) in sequence.chunks_exact_mut(width).zip(rows) {
            super::add_assign(row, &rows[lane * width..][..width]);
        }
    }
}

/// What a logit is at most or, under [`MaskedLogit::Minus`], what is added to it, by query and key.
fn visible(mask: &[bool], heads: Heads, lanes: usize) -> Buffer {
    let (seen, hidden) = match heads.masked {
        MaskedLogit::Lowest => (f32::INFINITY, f32::MIN),
        MaskedLogit::Minus(amount) => (0.0, -amount as f32),
    };
    let mut visible = Buffer::zeros(heads.sizes.mask() * lanes);
    for (lane, mask) in mask.chunks_exact(heads.sizes.mask()).enumerate() {
        for (column, is_visible) in visible.chunks_exact_mut(lanes).zip(mask) {
            column[lane] = if *is_visible { seen } else { hidden };
        }
    }
    visible
}

/// As many sums as are made at once, so that an addition need not wait for the one before it.
const AT_ONCE: usize = 4;

/// `output = Σ weights · rows`, the rows being as long as `output`.
#[inline(always)]
fn sum_of_rows<'a, S: Simd>(
    simd: S,
    weights: impl Iterator<Item = &'a S::f32s> + Clone,
    rows: &[S::f32s],
    output: &mut [S::f32s],
) {
    let size = output.len();
    let (blocks, rest) = output.as_chunks_mut::<AT_ONCE>();
    let first_of_rest = blocks.len() * AT_ONCE;
    for (block, output) in blocks.iter_mut().enumerate() {
        let mut sums = [simd.splat_f32s(0.0); AT_ONCE];
        for (weight, row) in weights.clone().zip(rows.chunks_exact(size)) {
            for (sum, x) in sums.iter_mut().zip(&row[block * AT_ONCE..][..AT_ONCE]) {
                *sum = simd.mul_add_e_f32s(*weight, *x, *sum);
            }
        }
        *output = sums;
    }
    for (i, output) in rest.iter_mut().enumerate() {
        let mut sum = simd.splat_f32s(0.0);
        for (weight, row) in weights.clone().zip(rows.chunks_exact(size)) {
            sum = simd.mul_add_e_f32s(*weight, row[first_of_rest + i], sum);
        }
        *output = sum;
    }
}

/// `Σ a b`, of each of the rows with `a`.
#[inline(always)]
fn dots<'a, S: Simd>(
    simd: S,
    a: &[S::f32s],
    rows: &[S::f32s],
    output: impl Iterator<Item = &'a mut S::f32s>,
) {
    for (row, output) in rows.chunks_exact(a.len()).zip(output) {
        let mut sums = [simd.splat_f32s(0.0); AT_ONCE];
        let ((a, a_rest), (row, row_rest)) = (a.as_chunks::<AT_ONCE>(), row.as_chunks::<AT_ONCE>());
        for (a, b) in a.iter().zip(row) {
            for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                *sum = simd.mul_add_e_f32s(*a, *b, *sum);
            }
        }
        for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(row_rest) {
            *sum = simd.mul_add_e_f32s(*a, *b, *sum);
        }
        let [a, b, c, d] = sums;
        *output = simd.add_f32s(simd.add_f32s(a, b), simd.add_f32s(c, d));
    }
}

/// `rows += weight · row`, to each row with its weight.
#[inline(always)]
fn add_to_rows<'a, S: Simd>(
    simd: S,
    rows: &mut [S::f32s],
    weights: impl Iterator<Item = &'a S::f32s>,
    row: &[S::f32s],
) {
    for (to, weight) in rows.chunks_exact_mut(row.len()).zip(weights) {
        for (to, x) in to.iter_mut().zip(row) {
            *to = simd.mul_add_e_f32s(*weight, *x, *to);
        }
    }
}

/// `weights = softmax(scale · q kᵀ)` where visible, `y = weights v`, of as many sequences as there are
/// lanes; all but the mask column by column.
pub struct Forward<'a> {
    pub heads: Heads,
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
    pub mask: &'a [bool],
    pub weights: &'a mut [f32],
    pub y: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let heads = self.heads;
        let sizes = heads.sizes;
        let (queries, keys) = (sizes.queries, sizes.keys);
        let visible = visible(self.mask, heads, S::F32_LANES);
        let visible = S::as_simd_f32s(&visible).0;
        let scale = simd.splat_f32s(heads.scale);

        let of_heads = (self.weights.chunks_exact_mut(queries * keys * S::F32_LANES))
            .zip(S::as_simd_f32s(self.q).0.chunks_exact(queries * sizes.qk))
            .zip(S::as_simd_f32s(self.k).0.chunks_exact(keys * sizes.qk))
            .zip(S::as_simd_f32s(self.v).0.chunks_exact(keys * sizes.vo))
            .zip(
                S::as_mut_simd_f32s(self.y)
                    .0
                    .chunks_exact_mut(queries * sizes.vo),
            );
        for ((((weights, q), k), v), y) in of_heads {
            let of_queries = (weights.chunks_exact_mut(keys * S::F32_LANES))
                .zip(visible.chunks_exact(keys))
                .enumerate();
            for (query, (row, visible)) in of_queries {
                let logits = S::as_mut_simd_f32s(row).0;
                sum_of_rows(simd, q[query..].iter().step_by(queries), k, logits);
                let mut highest = simd.splat_f32s(f32::NEG_INFINITY);
                for (logit, visible) in logits.iter_mut().zip(visible) {
                    let scaled = simd.mul_f32s(*logit, scale);
                    *logit = match heads.masked {
                        MaskedLogit::Lowest => simd.min_f32s(scaled, *visible),
                        MaskedLogit::Minus(_) => simd.add_f32s(scaled, *visible),
                    };
                    highest = simd.max_f32s(highest, *logit);
                }
                for logit in logits {
                    *logit = simd.sub_f32s(*logit, highest);
                }
                for logit in row.iter_mut() {
                    *logit = exp(*logit);
                }
                let weights = S::as_mut_simd_f32s(row).0;
                let mut total = simd.splat_f32s(0.0);
                for weight in weights.iter() {
                    total = simd.add_f32s(total, *weight);
                }
                let share = simd.div_f32s(simd.splat_f32s(1.0), total);
                for weight in weights.iter_mut() {
                    *weight = simd.mul_f32s(*weight, share);
                }
                dots(simd, weights, v, y[query..].iter_mut().step_by(queries));
            }
        }
    }
}

/// The gradients of query, key and value from that of the output, of as many sequences as there are
/// lanes; all but the mask column by column.
pub struct Backward<'a> {
    pub heads: Heads,
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
    pub mask: &'a [bool],
    pub weights: &'a [f32],
    pub dy: &'a [f32],
    pub dq: &'a mut [f32],
    pub dk: &'a mut [f32],
    pub dv: &'a mut [f32],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let heads = self.heads;
        let sizes = heads.sizes;
        let (queries, keys) = (sizes.queries, sizes.keys);
        let visible = visible(self.mask, heads, S::F32_LANES);
        let visible = S::as_simd_f32s(&visible).0;
        let (scale, zero) = (simd.splat_f32s(heads.scale), simd.splat_f32s(0.0));
        let mut slopes = Buffer::new(keys * S::F32_LANES);
        let slopes = S::as_mut_simd_f32s(&mut slopes).0;
        self.dk.fill(0.0);
        self.dv.fill(0.0);

        let of_heads = (self.weights.chunks_exact(queries * keys * S::F32_LANES))
            .zip(S::as_simd_f32s(self.q).0.chunks_exact(queries * sizes.qk))
            .zip(S::as_simd_f32s(self.k).0.chunks_exact(keys * sizes.qk))
            .zip(S::as_simd_f32s(self.v).0.chunks_exact(keys * sizes.vo))
            .zip(S::as_simd_f32s(self.dy).0.chunks_exact(queries * sizes.vo))
            .zip(
                S::as_mut_simd_f32s(self.dq)
                    .0
                    .chunks_exact_mut(queries * sizes.qk),
            )
            .zip(
                S::as_mut_simd_f32s(self.dk)
                    .0
                    .chunks_exact_mut(keys * sizes.qk),
            )
            .zip(
                S::as_mut_simd_f32s(self.dv)
                    .0
                    .chunks_exact_mut(keys * sizes.vo),
            );
        for (((((((weights, q), k), v), dy), dq), dk), dv) in of_heads {
            let of_queries = (weights.chunks_exact(keys * S::F32_LANES))
                .zip(visible.chunks_exact(keys))
                .enumerate();
            for (query, (weights, visible)) in of_queries {
                let weights = S::as_simd_f32s(weights).0;
                let dy = dy[query..].iter().step_by(queries);
                let q = q[query..].iter().step_by(queries);
                // The gradients of the weights, then w (dw - Σ w dw), those of the logits.
                sum_of_rows(simd, dy.clone(), v, slopes);
                let mut mean = zero;
                for (slope, weight) in slopes.iter().zip(weights) {
                    mean = simd.mul_add_e_f32s(*slope, *weight, mean);
                }
                add_to_rows(simd, dv, dy, weights);
                for ((slope, weight), visible) in slopes.iter_mut().zip(weights).zip(visible) {
                    let weight = simd.mul_f32s(*weight, scale);
                    *slope = simd.mul_f32s(weight, simd.sub_f32s(*slope, mean));
                    if heads.masked == MaskedLogit::Lowest {
                        // A hidden logit is a constant, whatever its weight came to be.
                        let seen = simd.greater_than_f32s(*visible, zero);
                        *slope = simd.select_f32s(seen, *slope, zero);
                    }
                }
                add_to_rows(simd, dk, q, slopes);
                dots(simd, slopes, k, dq[query..].iter_mut().step_by(queries));
            }
        }
    }
}
