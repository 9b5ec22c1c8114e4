//! The attention of small heads: sixteen sequences side by side, each in a lane of its own.
//!
//! A head of five numbers fills no vector register, nor does a row of fifteen keys; sixteen sequences
//! do, and no sum has to be made across lanes.

use super::{
    attention::{Heads, Sizes},
    lanes::LANES,
    math::exp,
};
use crate::ops::MaskedLogit;
use pulp::{Simd, WithSimd};

/// The same number of each sequence.
type Lanes = [f32; LANES];

/// The most numbers of keys and values of a head that stay in the nearest cache beside its queries.
const MOST: usize = 512;

/// Whether heads are small enough, and sequences many enough.
pub fn pays(sizes: Sizes, sequences: usize) -> bool {
    sequences >= LANES / 2 && sizes.keys * (sizes.qk + sizes.vo) <= MOST
}

/// Elements of the weights of so many sequences.
pub fn weights(sizes: Sizes, sequences: usize) -> usize {
    sequences.next_multiple_of(LANES) * sizes.heads * sizes.mask()
}

/// The numbers of up to sixteen sequences, each number a row of lanes; lanes without a sequence are 0.
#[inline(always)]
fn columns(sequences: &[f32], size: usize, columns: &mut [Lanes]) {
    if sequences.len() < LANES * size {
        columns.fill([0.0; LANES]);
    }
    for (lane, sequence) in sequences.chunks_exact(size).enumerate() {
        for (column, number) in columns.iter_mut().zip(sequence) {
            column[lane] = *number;
        }
    }
}

/// Back from [`columns`].
#[inline(always)]
fn sequences(columns: &[Lanes], size: usize, sequences: &mut [f32]) {
    for (lane, sequence) in sequences.chunks_exact_mut(size).enumerate() {
        for (column, number) in columns.iter().zip(sequence) {
            *number = column[lane];
        }
    }
}

/// `Σ a b` lane by lane, where the numbers of `a` and of `b` lie so many vectors apart.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: (&[S::f32s], usize), b: (&[S::f32s], usize), count: usize) -> S::f32s {
    let mut sum = simd.splat_f32s(0.0);
    for i in 0..count {
        sum = simd.mul_add_e_f32s(a.0[i * a.1], b.0[i * b.1], sum);
    }
    sum
}

/// Where a head's numbers of a position begin.
#[inline(always)]
fn at(sizes: Sizes, position: usize, head: usize, size: usize) -> usize {
    (position * sizes.heads + head) * size
}

/// [`Heads::forward`] of up to sixteen sequences.
pub struct Forward<'a> {
    pub heads: Heads,
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
    pub mask: &'a [bool],
    pub weights: &'a mut [f32],
    pub y: &'a mut [f32],
    pub scratch: &'a mut Scratch,
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            heads,
            scratch,
            weights,
            ..
        } = self;
        let sizes = heads.sizes;
        columns(self.q, sizes.q(), &mut scratch.q);
        columns(self.k, sizes.k(), &mut scratch.k);
        columns(self.v, sizes.v(), &mut scratch.v);
        scratch.read_mask(self.mask, heads);
        // A number of sixteen sequences is as many vectors.
        let step = LANES / S::F32_LANES;
        let q = S::as_simd_f32s(scratch.q.as_flattened()).0;
        let k = S::as_simd_f32s(scratch.k.as_flattened()).0;
        let v = S::as_simd_f32s(scratch.v.as_flattened()).0;
        let visible = S::as_simd_f32s(scratch.visible.as_flattened()).0;
        let y = S::as_mut_simd_f32s(scratch.y.as_flattened_mut()).0;
        let scale = simd.splat_f32s(heads.scale);
        let rows = weights.chunks_exact_mut(sizes.keys * LANES);
        for (i, row) in rows.enumerate() {
            let (head, query) = (i / sizes.queries, i % sizes.queries);
            let q = &q[at(sizes, query, head, sizes.qk) * step..];
            let visible = &visible[query * sizes.keys * step..];
            for part in 0..step {
                let logits = S::as_mut_simd_f32s(row).0;
                let mut highest = simd.splat_f32s(f32::NEG_INFINITY);
                for key in 0..sizes.keys {
                    let k = &k[at(sizes, key, head, sizes.qk) * step..];
                    let product = dot(simd, (&q[part..], step), (&k[part..], step), sizes.qk);
                    let scaled = simd.mul_f32s(product, scale);
                    let visible = visible[key * step + part];
                    let logit = match heads.masked {
                        MaskedLogit::Lowest => simd.min_f32s(scaled, visible),
                        MaskedLogit::Minus(_) => simd.add_f32s(scaled, visible),
                    };
                    highest = simd.max_f32s(highest, logit);
                    logits[key * step + part] = logit;
                }
                for key in 0..sizes.keys {
                    let logit = &mut logits[key * step + part];
                    *logit = simd.sub_f32s(*logit, highest);
                }
            }
            for logit in row.iter_mut() {
                *logit = exp(*logit);
            }
            let weights = S::as_mut_simd_f32s(row).0;
            for part in 0..step {
                let mut total = simd.splat_f32s(0.0);
                for key in 0..sizes.keys {
                    total = simd.add_f32s(total, weights[key * step + part]);
                }
                let share = simd.div_f32s(simd.splat_f32s(1.0), total);
                for key in 0..sizes.keys {
                    let weight = &mut weights[key * step + part];
                    *weight = simd.mul_f32s(*weight, share);
                }
                for i in 0..sizes.vo {
                    let v = &v[(head * sizes.vo + i) * step + part..];
                    let v = (v, sizes.heads * sizes.vo * step);
                    y[(at(sizes, query, head, sizes.vo) + i) * step + part] =
                        dot(simd, (&weights[part..], step), v, sizes.keys);
                }
            }
        }
        sequences(&scratch.y, sizes.y(), self.y);
    }
}

/// [`Heads::backward`] of up to sixteen sequences.
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
    pub scratch: &'a mut Scratch,
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            heads,
            scratch,
            weights,
            ..
        } = self;
        let sizes = heads.sizes;
        columns(self.q, sizes.q(), &mut scratch.q);
        columns(self.k, sizes.k(), &mut scratch.k);
        columns(self.v, sizes.v(), &mut scratch.v);
        columns(self.dy, sizes.y(), &mut scratch.y);
        scratch.read_mask(self.mask, heads);
        scratch.dk.fill([0.0; LANES]);
        scratch.dv.fill([0.0; LANES]);
        let step = LANES / S::F32_LANES;
        let q = S::as_simd_f32s(scratch.q.as_flattened()).0;
        let k = S::as_simd_f32s(scratch.k.as_flattened()).0;
        let v = S::as_simd_f32s(scratch.v.as_flattened()).0;
        let dy = S::as_simd_f32s(scratch.y.as_flattened()).0;
        let visible = S::as_simd_f32s(scratch.visible.as_flattened()).0;
        let slopes = S::as_mut_simd_f32s(scratch.slopes.as_flattened_mut()).0;
        let dq = S::as_mut_simd_f32s(scratch.dq.as_flattened_mut()).0;
        let dk = S::as_mut_simd_f32s(scratch.dk.as_flattened_mut()).0;
        let dv = S::as_mut_simd_f32s(scratch.dv.as_flattened_mut()).0;
        let (scale, zero) = (simd.splat_f32s(heads.scale), simd.splat_f32s(0.0));
        let rows = weights.chunks_exact(sizes.keys * LANES);
        for (i, row) in rows.enumerate() {
            let (head, query) = (i / sizes.queries, i % sizes.queries);
            let weights = S::as_simd_f32s(row).0;
            let of_query = at(sizes, query, head, sizes.qk) * step;
            let q = &q[of_query..];
            let dy = &dy[at(sizes, query, head, sizes.vo) * step..];
            let visible = &visible[query * sizes.keys * step..];
            for part in 0..step {
                // The gradients of the weights, then w (dw - Σ w dw), those of the logits.
                let mut mean = zero;
                for key in 0..sizes.keys {
                    let at = at(sizes, key, head, sizes.vo) * step + part;
                    let weight = weights[key * step + part];
                    let slope = dot(simd, (&dy[part..], step), (&v[at..], step), sizes.vo);
                    mean = simd.mul_add_e_f32s(slope, weight, mean);
                    slopes[key * step + part] = slope;
                    for i in 0..sizes.vo {
                        let dv = &mut dv[at + i * step];
                        *dv = simd.mul_add_e_f32s(weight, dy[i * step + part], *dv);
                    }
                }
                for key in 0..sizes.keys {
                    let at = at(sizes, key, head, sizes.qk) * step + part;
                    let weight = simd.mul_f32s(weights[key * step + part], scale);
                    let slope = &mut slopes[key * step + part];
                    *slope = simd.mul_f32s(weight, simd.sub_f32s(*slope, mean));
                    if heads.masked == MaskedLogit::Lowest {
                        // A hidden logit is a constant, whatever its weight came to be.
                        let seen = simd.greater_than_f32s(visible[key * step + part], zero);
                        *slope = simd.select_f32s(seen, *slope, zero);
                    }
                    for i in 0..sizes.qk {
                        let dk = &mut dk[at + i * step];
                        *dk = simd.mul_add_e_f32s(*slope, q[i * step + part], *dk);
                    }
                }
                for i in 0..sizes.qk {
                    let k = &k[(head * sizes.qk + i) * step + part..];
                    let k = (k, sizes.heads * sizes.qk * step);
                    dq[of_query + i * step + part] =
                        dot(simd, (&slopes[part..], step), k, sizes.keys);
                }
            }
        }
        sequences(&scratch.dq, sizes.q(), self.dq);
        sequences(&scratch.dk, sizes.k(), self.dk);
        sequences(&scratch.dv, sizes.v(), self.dv);
    }
}

/// Room for sixteen sequences.
pub struct Scratch {
    q: Vec<Lanes>,
    k: Vec<Lanes>,
    v: Vec<Lanes>,
    y: Vec<Lanes>,
    /// What a logit is at most or, under [`MaskedLogit::Minus`], what is added to it.
    visible: Vec<Lanes>,
    slopes: Vec<Lanes>,
    dq: Vec<Lanes>,
    dk: Vec<Lanes>,
    dv: Vec<Lanes>,
}

impl Scratch {
    /// For [`Forward`].
    pub fn new(sizes: Sizes) -> Self {
        let room = |size: usize| vec![[0.0; LANES]; size];
        Self {
            q: room(sizes.q()),
            k: room(sizes.k()),
            v: room(sizes.v()),
            y: room(sizes.y()),
            visible: room(sizes.mask()),
            slopes: Vec::new(),
            dq: Vec::new(),
            dk: Vec::new(),
            dv: Vec::new(),
        }
    }

    /// For [`Backward`].
    pub fn with_gradients(sizes: Sizes) -> Self {
        let room = |size: usize| vec![[0.0; LANES]; size];
        Self {
            slopes: room(sizes.keys),
            dq: room(sizes.q()),
            dk: room(sizes.k()),
            dv: room(sizes.v()),
            ..Self::new(sizes)
        }
    }

    #[inline(always)]
    fn read_mask(&mut self, mask: &[bool], heads: Heads) {
        let (seen, hidden) = match heads.masked {
            MaskedLogit::Lowest => (f32::INFINITY, f32::MIN),
            MaskedLogit::Minus(amount) => (0.0, -amount as f32),
        };
        for (lane, mask) in mask.chunks_exact(heads.sizes.mask()).enumerate() {
            for (lanes, visible) in self.visible.iter_mut().zip(mask) {
                lanes[lane] = if *visible { seen } else { hidden };
            }
        }
    }
}
