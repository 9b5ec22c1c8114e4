//! The attention of small heads: sequences side by side, each in a lane of its own.

use super::{
    attention::Heads,
    buffer::Buffer,
    layout::{Layout, side_by_side},
    math::exp_of_each,
    matmul::Matrix,
    product::{Factor, Product},
};
use crate::backend::MaskFill;
use itertools::izip;
use pulp::{Simd, WithSimd};

/// The most numbers of keys and values of a head that stay in the nearest cache beside its queries.
const MOST: usize = 512;
/// The most numbers of a map: its gradient is summed in as many parts as there are lanes.
const MOST_OF_A_MAP: usize = 4096;

/// Side by side, if heads and maps are small enough and sequences many enough.
pub fn layout(heads: Heads, widths: [usize; 2], sequences: usize) -> Layout {
    let sizes = heads.sizes;
    let has_numbers = sizes.weights() * sizes.qk * sizes.vo * widths[0] * widths[1] > 0;
    let map = widths[0].max(widths[1]) * sizes.heads * sizes.qk.max(sizes.vo);
    let is_small = |lanes: usize| {
        // Lanes that stay empty cost as much as the others.
        let most = MOST_OF_A_MAP * sequences.min(lanes) / lanes;
        sizes.keys * (sizes.qk + sizes.vo) <= MOST && map <= most
    };
    match side_by_side(sequences) {
        Layout::Lanes(lanes) if has_numbers && is_small(lanes) => Layout::Lanes(lanes),
        _ => Layout::Rows,
    }
}

/// What a logit is at most or, under [`MaskFill::Subtract`], what is added to it, by query and key;
/// nothing if all is visible.
fn visible(mask: &[bool], heads: Heads, lanes: usize) -> Option<Buffer> {
    if !mask.contains(&false) {
        return None;
    }
    let (seen, hidden) = match heads.masked {
        MaskFill::MinValue => (f32::INFINITY, f32::MIN),
        MaskFill::Subtract(amount) => (0.0, -amount as f32),
    };
    let mut visible = Buffer::zeros(heads.sizes.mask() * lanes);
    for (lane, mask) in mask.chunks_exact(heads.sizes.mask()).enumerate() {
        for (column, is_visible) in visible.chunks_exact_mut(lanes).zip(mask) {
            column[lane] = if *is_visible { seen } else { hidden };
        }
    }
    Some(visible)
}

/// The vectors of one head, of `size` numbers at each of the positions.
#[inline(always)]
fn of_head<S: Simd>(all: &[f32], heads: Heads, head: usize, size: usize) -> Matrix<'_> {
    let stride = heads.sizes.heads * size;
    let rows = all.len() / (stride * S::F32_LANES);
    Matrix::strided(&all[head * size * S::F32_LANES..], rows, size, stride)
}

/// The product of one head, put where it belongs.
#[inline(always)]
fn put<S: Simd>(simd: S, all: &mut [f32], heads: Heads, head: usize, a: Matrix, b: Matrix) {
    let size = b.columns();
    simd.vectorize(Product {
        output: &mut all[head * size * S::F32_LANES..],
        stride: heads.sizes.heads * size,
        a,
        b: Factor::Vectors(b),
        bias: None,
        accumulate: false,
    });
}

/// The product of a query's and a key's vector, of each query with each key of a head.
#[inline(always)]
fn pairs<S: Simd>(simd: S, output: &mut [f32], queries: Matrix, keys: Matrix) {
    simd.vectorize(Product {
        output,
        stride: keys.rows(),
        a: queries,
        b: Factor::Vectors(keys.transposed()),
        bias: None,
        accumulate: false,
    });
}

/// `weights = softmax(scale · q kᵀ)` where visible, `y = weights v`, of as many sequences as there are
/// lanes; all but the mask number by number.
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
        let visible = visible(self.mask, heads, S::F32_LANES);
        let visible = visible.as_deref().map(|visible| S::as_simd_f32s(visible).0);
        let scale = simd.splat_f32s(heads.scale);

        let of_heads = self.weights.chunks_exact_mut(sizes.mask() * S::F32_LANES);
        for (head, weights) in of_heads.enumerate() {
            let q = of_head::<S>(self.q, heads, head, sizes.qk);
            let k = of_head::<S>(self.k, heads, head, sizes.qk);
            let v = of_head::<S>(self.v, heads, head, sizes.vo);
            pairs(simd, weights, q, k);
            let rows = S::as_mut_simd_f32s(weights).0.chunks_exact_mut(sizes.keys);
            for (query, logits) in rows.enumerate() {
                let mut highest = simd.splat_f32s(f32::NEG_INFINITY);
                if let Some(visible) = visible {
                    let visible = &visible[query * sizes.keys..];
                    for (logit, visible) in logits.iter_mut().zip(visible) {
                        let scaled = simd.mul_f32s(*logit, scale);
                        *logit = match heads.masked {
                            MaskFill::MinValue => simd.min_f32s(scaled, *visible),
                            MaskFill::Subtract(_) => simd.add_f32s(scaled, *visible),
                        };
                        highest = simd.max_f32s(highest, *logit);
                    }
                } else {
                    for logit in logits.iter_mut() {
                        *logit = simd.mul_f32s(*logit, scale);
                        highest = simd.max_f32s(highest, *logit);
                    }
                }
                let mut total = simd.splat_f32s(0.0);
                for logit in logits.iter_mut() {
                    *logit = exp_of_each(simd, simd.sub_f32s(*logit, highest));
                    total = simd.add_f32s(total, *logit);
                }
                let share = simd.div_f32s(simd.splat_f32s(1.0), total);
                for weight in logits {
                    *weight = simd.mul_f32s(*weight, share);
                }
            }
            let weights = Matrix::strided(weights, sizes.queries, sizes.keys, sizes.keys);
            put(simd, self.y, heads, head, weights, v);
        }
    }
}

/// The gradients of query, key and value from that of the output, of as many sequences as there are
/// lanes; all but the mask number by number.
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
        // A hidden logit is a constant under `Lowest`, whatever its weight came to be.
        let visible = match heads.masked {
            MaskFill::MinValue => visible(self.mask, heads, S::F32_LANES),
            MaskFill::Subtract(_) => None,
        };
        let visible = visible.as_deref().map(|visible| S::as_simd_f32s(visible).0);
        let (scale, zero) = (simd.splat_f32s(heads.scale), simd.splat_f32s(0.0));
        let mut room = Buffer::new(sizes.mask() * S::F32_LANES);

        let of_heads = self.weights.chunks_exact(sizes.mask() * S::F32_LANES);
        for (head, weights) in of_heads.enumerate() {
            let q = of_head::<S>(self.q, heads, head, sizes.qk);
            let k = of_head::<S>(self.k, heads, head, sizes.qk);
            let v = of_head::<S>(self.v, heads, head, sizes.vo);
            let dy = of_head::<S>(self.dy, heads, head, sizes.vo);
            // The gradients of the weights, then w (dw - Σ w dw), those of the logits.
            pairs(simd, &mut room, dy, v);
            let rows = izip!(
                S::as_mut_simd_f32s(&mut room).0.chunks_exact_mut(sizes.keys),
                S::as_simd_f32s(weights).0.chunks_exact(sizes.keys),
            );
            for (query, (slopes, weights)) in rows.enumerate() {
                let mut mean = zero;
                for (slope, weight) in slopes.iter().zip(weights) {
                    mean = simd.mul_add_e_f32s(*slope, *weight, mean);
                }
                for (slope, weight) in slopes.iter_mut().zip(weights) {
                    let weight = simd.mul_f32s(*weight, scale);
                    *slope = simd.mul_f32s(weight, simd.sub_f32s(*slope, mean));
                }
                if let Some(visible) = visible {
                    let visible = &visible[query * sizes.keys..];
                    for (slope, visible) in slopes.iter_mut().zip(visible) {
                        let seen = simd.greater_than_f32s(*visible, zero);
                        *slope = simd.select_f32s(seen, *slope, zero);
                    }
                }
            }
            let weights = Matrix::strided(weights, sizes.queries, sizes.keys, sizes.keys);
            let slopes = Matrix::strided(&room, sizes.queries, sizes.keys, sizes.keys);
            put(simd, self.dv, heads, head, weights.transposed(), dy);
            put(simd, self.dk, heads, head, slopes.transposed(), q);
            put(simd, self.dq, heads, head, slopes, k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{attention::Sizes, layout::lanes},
        *,
    };
    use pulp::{Arch, Scalar};

    /// What one sequence of those in `all` has, number by number.
    fn of_lane(all: &[f32], lane: usize) -> Vec<f32> {
        all.iter().skip(lane).step_by(lanes()).copied().collect()
    }

    #[test]
    fn every_lane_is_what_it_is_alone() {
        let lanes = lanes();
        let sizes = Sizes { queries: 5, keys: 7, heads: 3, qk: 2, vo: 6 };
        let numbers = |len: usize, salt: usize| -> Vec<f32> {
            (0..len * lanes).map(|i| ((i * 37 + salt) % 29) as f32 / 10.0 - 1.4).collect()
        };
        let (q, k) = (numbers(sizes.q(), 1), numbers(sizes.k(), 2));
        let (v, dy) = (numbers(sizes.v(), 3), numbers(sizes.y(), 4));
        let mask: Vec<bool> = (0..sizes.mask() * lanes).map(|i| i % 5 != 0 && i % 35 > 6).collect();
        for masked in [MaskFill::MinValue, MaskFill::Subtract(30.0)] {
            let heads = Heads { sizes, scale: 0.7, masked };
            let mut weights = vec![0.0; sizes.heads * sizes.mask() * lanes];
            let mut y = vec![0.0; dy.len()];
            let (mut dq, mut dk, mut dv) = (q.clone(), k.clone(), v.clone());
            Arch::new().dispatch(Forward {
                heads,
                q: &q,
                k: &k,
                v: &v,
                mask: &mask,
                weights: &mut weights,
                y: &mut y,
            });
            Arch::new().dispatch(Backward {
                heads,
                q: &q,
                k: &k,
                v: &v,
                mask: &mask,
                weights: &weights,
                dy: &dy,
                dq: &mut dq,
                dk: &mut dk,
                dv: &mut dv,
            });
            for (lane, mask) in mask.chunks(sizes.mask()).enumerate() {
                let [q, k, v, dy] = [&q, &k, &v, &dy].map(|all| of_lane(all, lane));
                let mut weights_alone = vec![0.0; sizes.heads * sizes.mask()];
                let mut y_alone = vec![0.0; sizes.y()];
                let mut alone = [q.clone(), k.clone(), v.clone()];
                let [dq_alone, dk_alone, dv_alone] = &mut alone;
                Forward { heads, q: &q, k: &k, v: &v, mask, weights: &mut weights_alone, y: &mut y_alone }
                    .with_simd(Scalar);
                Backward {
                    heads,
                    q: &q,
                    k: &k,
                    v: &v,
                    mask,
                    weights: &weights_alone,
                    dy: &dy,
                    dq: dq_alone,
                    dk: dk_alone,
                    dv: dv_alone,
                }
                .with_simd(Scalar);
                let [dq_alone, dk_alone, dv_alone] = alone;
                for (together, alone) in [
                    (&weights, weights_alone),
                    (&y, y_alone),
                    (&dq, dq_alone),
                    (&dk, dk_alone),
                    (&dv, dv_alone),
                ] {
                    for (a, b) in of_lane(together, lane).into_iter().zip(alone) {
                        assert!((a - b).abs() <= 1e-5, "{a} together, {b} alone");
                    }
                }
            }
        }
    }
}
