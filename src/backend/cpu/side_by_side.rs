//! The attention of small heads: sequences side by side, each in a lane of its own.
//!
//! A head of five numbers fills no vector register, nor does a row of fifteen keys; as many sequences
//! as there are lanes do, and no sum has to be made across lanes.

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
    let is_small = (1..=MOST).contains(&(sizes.keys * sizes.qk.min(sizes.vo)))
        && sizes.keys * (sizes.qk + sizes.vo) <= MOST;
    (is_small && sequences >= lanes / 2).then_some(lanes)
}

/// Numbers of as many sequences as there are lanes, head by head, then position by position.
struct Columns {
    numbers: Buffer,
    lanes: usize,
}

impl Columns {
    fn new<S: Simd>(numbers: usize) -> Self {
        let lanes = S::F32_LANES;
        Self {
            numbers: Buffer::zeros(numbers * lanes),
            lanes,
        }
    }

    /// Lanes without a sequence stay 0.
    // Never inside what is compiled for wide registers: it would be done by scattering, which takes
    // longer than one number after the other.
    #[inline(never)]
    fn read(&mut self, sequences: &[f32], positions: usize, heads: usize, size: usize) {
        let sequences = sequences.chunks_exact(positions * heads * size);
        for (lane, sequence) in sequences.enumerate() {
            for (position, row) in sequence.chunks_exact(heads * size).enumerate() {
                for (head, numbers) in row.chunks_exact(size).enumerate() {
                    let first = (head * positions + position) * size * self.lanes;
                    let columns = self.numbers[first..].chunks_exact_mut(self.lanes);
                    for (column, number) in columns.zip(numbers) {
                        column[lane] = *number;
                    }
                }
            }
        }
    }

    /// Back from [`read`](Self::read).
    #[inline(never)]
    fn write(&self, sequences: &mut [f32], positions: usize, heads: usize, size: usize) {
        let sequences = sequences.chunks_exact_mut(positions * heads * size);
        for (lane, sequence) in sequences.enumerate() {
            for (position, row) in sequence.chunks_exact_mut(heads * size).enumerate() {
                for (head, numbers) in row.chunks_exact_mut(size).enumerate() {
                    let first = (head * positions + position) * size * self.lanes;
                    let columns = self.numbers[first..].chunks_exact(self.lanes);
                    for (column, number) in columns.zip(numbers) {
                        *number = column[lane];
                    }
                }
            }
        }
    }

    /// What a logit is at most or, under [`MaskedLogit::Minus`], what is added to it, by query and key.
    #[inline(never)]
    fn read_mask(&mut self, mask: &[bool], heads: Heads) {
        let (seen, hidden) = match heads.masked {
            MaskedLogit::Lowest => (f32::INFINITY, f32::MIN),
            MaskedLogit::Minus(amount) => (0.0, -amount as f32),
        };
        for (lane, mask) in mask.chunks_exact(heads.sizes.mask()).enumerate() {
            let columns = self.numbers.chunks_exact_mut(self.lanes);
            for (column, visible) in columns.zip(mask) {
                column[lane] = if *visible { seen } else { hidden };
            }
        }
    }

    #[inline(always)]
    fn vectors<S: Simd>(&self) -> &[S::f32s] {
        S::as_simd_f32s(&self.numbers).0
    }

    #[inline(always)]
    fn vectors_mut<S: Simd>(&mut self) -> &mut [S::f32s] {
        S::as_mut_simd_f32s(&mut self.numbers).0
    }
}

/// `Σ a b`.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[S::f32s], b: &[S::f32s]) -> S::f32s {
    let mut sum = simd.splat_f32s(0.0);
    for (a, b) in a.iter().zip(b) {
        sum = simd.mul_add_e_f32s(*a, *b, sum);
    }
    sum
}

/// `Σ weights · rows`, the rows being as long as `output`.
#[inline(always)]
fn sum_of_rows<S: Simd>(simd: S, weights: &[S::f32s], rows: &[S::f32s], output: &mut [S::f32s]) {
    // Several sums at once, so that an addition need not wait for the one before it.
    const AT_ONCE: usize = 4;
    let size = output.len();
    let mut first = 0;
    while first + AT_ONCE <= size {
        let mut sums = [simd.splat_f32s(0.0); AT_ONCE];
        for (weight, row) in weights.iter().zip(rows.chunks_exact(size)) {
            for (sum, x) in sums.iter_mut().zip(&row[first..][..AT_ONCE]) {
                *sum = simd.mul_add_e_f32s(*weight, *x, *sum);
            }
        }
        output[first..][..AT_ONCE].copy_from_slice(&sums);
        first += AT_ONCE;
    }
    for (i, output) in output.iter_mut().enumerate().skip(first) {
        let mut sum = simd.splat_f32s(0.0);
        for (weight, row) in weights.iter().zip(rows.chunks_exact(size)) {
            sum = simd.mul_add_e_f32s(*weight, row[i], sum);
        }
        *output = sum;
    }
}

/// `rows += weight · row`, to each row with its weight.
#[inline(always)]
fn add_to_rows<S: Simd>(simd: S, rows: &mut [S::f32s], weights: &[S::f32s], row: &[S::f32s]) {
    for (to, weight) in rows.chunks_exact_mut(row.len()).zip(weights) {
        for (to, x) in to.iter_mut().zip(row) {
            *to = simd.mul_add_e_f32s(*weight, *x, *to);
        }
    }
}

/// [`Heads::forward`] of as many sequences as there are lanes, or fewer.
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
        let Sizes {
            queries,
            keys,
            heads: count,
            qk,
            vo,
        } = heads.sizes;
        let mut q = Columns::new::<S>(heads.sizes.q());
        let mut k = Columns::new::<S>(heads.sizes.k());
        let mut v = Columns::new::<S>(heads.sizes.v());
        let mut y = Columns::new::<S>(heads.sizes.y());
        q.read(self.q, queries, count, qk);
        k.read(self.k, keys, count, qk);
        v.read(self.v, keys, count, vo);
        let mut visible = Columns::new::<S>(heads.sizes.mask());
        visible.read_mask(self.mask, heads);
        let scale = simd.splat_f32s(heads.scale);

        let of_heads = (self.weights.chunks_exact_mut(queries * keys * S::F32_LANES))
            .zip(q.vectors::<S>().chunks_exact(queries * qk))
            .zip(k.vectors::<S>().chunks_exact(keys * qk))
            .zip(v.vectors::<S>().chunks_exact(keys * vo))
            .zip(y.vectors_mut::<S>().chunks_exact_mut(queries * vo));
        for ((((weights, q), k), v), y) in of_heads {
            let of_queries = (weights.chunks_exact_mut(keys * S::F32_LANES))
                .zip(q.chunks_exact(qk))
                .zip(y.chunks_exact_mut(vo))
                .zip(visible.vectors::<S>().chunks_exact(keys));
            for (((row, q), y), visible) in of_queries {
                let logits = S::as_mut_simd_f32s(row).0;
                let mut highest = simd.splat_f32s(f32::NEG_INFINITY);
                for ((logit, k), visible) in logits.iter_mut().zip(k.chunks_exact(qk)).zip(visible)
                {
                    let scaled = simd.mul_f32s(dot(simd, q, k), scale);
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
                sum_of_rows(simd, weights, v, y);
            }
        }
        y.write(self.y, queries, count, vo);
    }
}

/// [`Heads::backward`] of as many sequences as there are lanes, or fewer.
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
        let Sizes {
            queries,
            keys,
            heads: count,
            qk,
            vo,
        } = heads.sizes;
        let mut q = Columns::new::<S>(heads.sizes.q());
        let mut k = Columns::new::<S>(heads.sizes.k());
        let mut v = Columns::new::<S>(heads.sizes.v());
        let mut dy = Columns::new::<S>(heads.sizes.y());
        q.read(self.q, queries, count, qk);
        k.read(self.k, keys, count, qk);
        v.read(self.v, keys, count, vo);
        dy.read(self.dy, queries, count, vo);
        let mut visible = Columns::new::<S>(heads.sizes.mask());
        visible.read_mask(self.mask, heads);
        let mut slopes = Columns::new::<S>(keys);
        let mut dq = Columns::new::<S>(heads.sizes.q());
        let mut dk = Columns::new::<S>(heads.sizes.k());
        let mut dv = Columns::new::<S>(heads.sizes.v());
        let (scale, zero) = (simd.splat_f32s(heads.scale), simd.splat_f32s(0.0));

        let of_heads = (self.weights.chunks_exact(queries * keys * S::F32_LANES))
            .zip(q.vectors::<S>().chunks_exact(queries * qk))
            .zip(k.vectors::<S>().chunks_exact(keys * qk))
            .zip(v.vectors::<S>().chunks_exact(keys * vo))
            .zip(dy.vectors::<S>().chunks_exact(queries * vo))
            .zip(dq.vectors_mut::<S>().chunks_exact_mut(queries * qk))
            .zip(dk.vectors_mut::<S>().chunks_exact_mut(keys * qk))
            .zip(dv.vectors_mut::<S>().chunks_exact_mut(keys * vo));
        let slopes = slopes.vectors_mut::<S>();
        for (((((((weights, q), k), v), dy), dq), dk), dv) in of_heads {
            let of_queries = (weights.chunks_exact(keys * S::F32_LANES))
                .zip(q.chunks_exact(qk))
                .zip(dy.chunks_exact(vo))
                .zip(dq.chunks_exact_mut(qk))
                .zip(visible.vectors::<S>().chunks_exact(keys));
            for ((((weights, q), dy), dq), visible) in of_queries {
                let weights = S::as_simd_f32s(weights).0;
                // The gradients of the weights, then w (dw - Σ w dw), those of the logits.
                let mut mean = zero;
                for ((slope, weight), v) in slopes.iter_mut().zip(weights).zip(v.chunks_exact(vo)) {
                    *slope = dot(simd, dy, v);
                    mean = simd.mul_add_e_f32s(*slope, *weight, mean);
                }
                add_to_rows(simd, dv, weights, dy);
                for ((slope, weight), visible) in slopes.iter_mut().zip(weights).zip(visible) {
                    let weight = simd.mul_f32s(*weight, scale);
                    *slope = simd.mul_f32s(weight, simd.sub_f32s(*slope, mean));
                    if heads.masked == MaskedLogit::Lowest {
                        // A hidden logit is a constant, whatever its weight came to be.
                        let seen = simd.greater_than_f32s(*visible, zero);
                        *slope = simd.select_f32s(seen, *slope, zero);
                    }
                }
                add_to_rows(simd, dk, slopes, q);
                sum_of_rows(simd, slopes, k, dq);
            }
        }
        dq.write(self.dq, queries, count, qk);
        dk.write(self.dk, keys, count, qk);
        dv.write(self.dv, keys, count, vo);
    }
}
