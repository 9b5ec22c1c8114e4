use super::{
    attention_in_lanes,
    buffer::Buffer,
    lanes::{dot, max, padded, sum},
    layout::Layout,
    leaf::{Leaf, Output},
    math::exp,
    matmul::Matrix,
    parallel::Share,
    rows_mut, rows_of,
};
use crate::{
    dims::{ConstDim, Dim},
    ops::{AttentionScale, MaskedLogit},
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use pulp::{Arch, Simd, WithSimd};
use std::{mem, sync::Arc};

/// As many positions as are calculated with while they stay in the cache.
pub const CACHED: usize = 256;

/// Head by head on what lies side by side in memory: nothing is permuted, and of the scores only the
/// weights are written out.
pub fn attention(
    query: Leaf,
    key: Leaf,
    value: Leaf,
    mask: Arc<[bool]>,
    heads: Heads,
) -> Result<Output, CpuError> {
    let sizes = heads.sizes;
    let batch = mask.len() / sizes.mask().max(1);
    let share = Share::new(batch, sizes.cost(), heads.sequences(CACHED));
    let of_chunk = move |elements: usize| share.chunk * elements;
    let mut y = query.room(batch * sizes.y())?;
    let mut weights = Buffer::new(batch * sizes.weights());
    let chunks = izip!(
        rows_of(&query.elements, of_chunk(sizes.q())),
        rows_of(&key.elements, of_chunk(sizes.k())),
        rows_of(&value.elements, of_chunk(sizes.v())),
        rows_of(&mask, of_chunk(sizes.mask())),
        rows_mut(&mut weights, of_chunk(sizes.weights())),
        rows_mut(&mut y, of_chunk(sizes.y())),
    );
    share.for_each(chunks, |chunks| {
        for (q, k, v, mask, weights, y) in chunks {
            heads.forward(Layout::Rows, [q, k, v], mask, weights, y);
        }
    });
    let output = query.beside(y)?;

    let out = output.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let (mut dq, mut dk, mut dv) = (query.zeros(), key.zeros(), value.zeros());
        let chunks = izip!(
            rows_of(&query.elements, of_chunk(sizes.q())),
            rows_of(&key.elements, of_chunk(sizes.k())),
            rows_of(&value.elements, of_chunk(sizes.v())),
            rows_of(&mask, of_chunk(sizes.mask())),
            rows_of(&weights, of_chunk(sizes.weights())),
            rows_of(&dy, of_chunk(sizes.y())),
            rows_mut(&mut dq, of_chunk(sizes.q())),
            rows_mut(&mut dk, of_chunk(sizes.k())),
            rows_mut(&mut dv, of_chunk(sizes.v())),
        );
        share.for_each(chunks, |chunks| {
            for (q, k, v, mask, weights, dy, dq, dk, dv) in chunks {
                heads.backward(Layout::Rows, [q, k, v], mask, weights, dy, [dq, dk, dv]);
            }
        });
        **gradients.get_or_alloc_mut(&out)? = dy;
        query.add(gradients, &dq)?;
        key.add(gradients, &dk)?;
        value.add(gradients, &dv)
    };
    Ok((output, Box::new(backward)))
}

/// The attention of some sequences, each of their heads by itself.
#[derive(Clone, Copy)]
pub struct Heads {
    pub sizes: Sizes,
    pub scale: f32,
    pub masked: MaskedLogit,
}

impl Heads {
    pub fn new<H: ConstDim, QKDim: ConstDim, VODim: ConstDim>(
        (_, queries, keys): (impl Dim, impl Dim, impl Dim),
        scale: AttentionScale,
        masked: MaskedLogit,
    ) -> Self {
        let sizes = Sizes {
            queries: queries.size(),
            keys: keys.size(),
            heads: H::SIZE,
            qk: QKDim::SIZE,
            vo: VODim::SIZE,
        };
        Self {
            sizes,
            scale: scale.factor(H::SIZE, QKDim::SIZE) as f32,
            masked,
        }
    }

    /// How many sequences of about so many positions together to work on at once.
    pub fn sequences(self, positions: usize) -> usize {
        (positions / self.sizes.queries.max(self.sizes.keys).max(1)).max(1)
    }

    /// The logit that a product of a query and a key becomes.
    #[inline(always)]
    pub fn logit(&self, product: f32, visible: bool) -> f32 {
        let scaled = product * self.scale;
        let hidden = match self.masked {
            MaskedLogit::Lowest => f32::MIN,
            MaskedLogit::Minus(amount) => scaled - amount as f32,
        };
        if visible { scaled } else { hidden }
    }

    /// The numbers of the weights of a sequence.
    pub fn weights(self, layout: Layout) -> usize {
        match layout {
            Layout::Rows => self.sizes.weights(),
            Layout::Lanes(_) => self.sizes.heads * self.sizes.mask(),
        }
    }

    /// `weights = softmax(scale · q kᵀ)` where visible, `y = weights v`.
    pub fn forward(
        self,
        layout: Layout,
        [q, k, v]: [&[f32]; 3],
        mask: &[bool],
        weights: &mut [f32],
        y: &mut [f32],
    ) {
        if layout != Layout::Rows {
            return Arch::new().dispatch(attention_in_lanes::Forward {
                heads: self,
                q,
                k,
                v,
                mask,
                weights,
                y,
            });
        }
        let sizes = self.sizes;
        let sequences = izip!(
            rows_of(q, sizes.q()),
            rows_of(k, sizes.k()),
            rows_of(v, sizes.v()),
            rows_of(mask, sizes.mask()),
            rows_mut(weights, sizes.weights()),
            rows_mut(y, sizes.y()),
        );
        for (q, k, v, visible, weights, y) in sequences {
            Arch::new().dispatch(Forward {
                heads: self,
                q,
                k,
                v,
                visible,
                weights,
                y,
            });
        }
    }

    /// The gradients of query, key and value from that of the output.
    pub fn backward(
        self,
        layout: Layout,
        [q, k, v]: [&[f32]; 3],
        mask: &[bool],
        weights: &[f32],
        dy: &[f32],
        [dq, dk, dv]: [&mut [f32]; 3],
    ) {
        if layout != Layout::Rows {
            return Arch::new().dispatch(attention_in_lanes::Backward {
                heads: self,
                q,
                k,
                v,
                mask,
                weights,
                dy,
                dq,
                dk,
                dv,
            });
        }
        let sizes = self.sizes;
        let sequences = izip!(
            rows_of(q, sizes.q()),
            rows_of(k, sizes.k()),
            rows_of(v, sizes.v()),
            rows_of(mask, sizes.mask()),
            rows_of(weights, sizes.weights()),
            rows_of(dy, sizes.y()),
            rows_mut(dq, sizes.q()),
            rows_mut(dk, sizes.k()),
            rows_mut(dv, sizes.v()),
        );
        for (q, k, v, visible, weights, dy, dq, dk, dv) in sequences {
            Arch::new().dispatch(Backward {
                heads: self,
                q,
                k,
                v,
                visible,
                weights,
                dy,
                dq,
                dk,
                dv,
            });
        }
    }
}

/// The sizes of one batch row.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub queries: usize,
    pub keys: usize,
    pub heads: usize,
    pub qk: usize,
    pub vo: usize,
}

impl Sizes {
    pub fn q(self) -> usize {
        self.queries * self.heads * self.qk
    }
    pub fn k(self) -> usize {
        self.keys * self.heads * self.qk
    }
    pub fn v(self) -> usize {
        self.keys * self.heads * self.vo
    }
    pub fn y(self) -> usize {
        self.queries * self.heads * self.vo
    }
    pub fn mask(self) -> usize {
        self.queries * self.keys
    }
    /// Weights are kept with their keys padded to whole lanes.
    pub fn weights(self) -> usize {
        self.heads * self.queries * padded(self.keys)
    }
    pub fn cost(self) -> usize {
        self.weights() * (self.qk + self.vo)
    }

    /// What belongs to one head, of `positions` vectors with `size` elements for each head.
    #[inline(always)]
    fn head(self, all: &[f32], head: usize, positions: usize, size: usize) -> Matrix<'_> {
        let elements = all.get(head * size..).unwrap_or_default();
        Matrix::strided(elements, positions, size, self.heads * size)
    }

    /// Puts a head's tile where it belongs.
    #[inline(always)]
    fn put(self, all: &mut [f32], head: usize, tile: &Tile) {
        let vectors = all.chunks_exact_mut((self.heads * tile.columns).max(1));
        for (vector, row) in vectors.zip(tile.elements.chunks_exact(padded(tile.columns).max(1))) {
            let vector = &mut vector[head * tile.columns..][..tile.columns];
            vector.copy_from_slice(&row[..tile.columns]);
        }
    }
}

/// [`Heads::forward`] of one sequence.
struct Forward<'a> {
    heads: Heads,
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
    visible: &'a [bool],
    weights: &'a mut [f32],
    y: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            heads,
            q,
            k,
            v,
            visible,
            weights,
            y,
        } = self;
        let sizes = heads.sizes;
        let width = padded(sizes.keys).max(1);
        let (mut k_columns, mut v_tile, mut y_tile) = <(Tile, Tile, Tile)>::default();
        for head in 0..sizes.heads {
            k_columns.read(sizes.head(k, head, sizes.keys, sizes.qk).transposed());
            v_tile.read(sizes.head(v, head, sizes.keys, sizes.vo));
            let size = sizes.queries * padded(sizes.keys);
            let weights = &mut weights[head * size..][..size];
            let q = sizes.head(q, head, sizes.queries, sizes.qk);
            multiply(simd, weights, q, &k_columns);
            for (logits, visible) in weights
                .chunks_exact_mut(width)
                .zip(visible.chunks_exact(sizes.keys.max(1)))
            {
                for (logit, visible) in logits.iter_mut().zip(visible) {
                    *logit = heads.logit(*logit, *visible);
                }
                logits[sizes.keys..].fill(f32::NEG_INFINITY);
                softmax(logits);
            }
            y_tile.resize(sizes.queries, sizes.vo);
            let weights = Matrix::strided(weights, sizes.queries, sizes.keys, padded(sizes.keys));
            multiply(simd, &mut y_tile.elements, weights, &v_tile);
            sizes.put(y, head, &y_tile);
        }
    }
}

/// [`Heads::backward`] of one sequence.
struct Backward<'a> {
    heads: Heads,
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
    visible: &'a [bool],
    weights: &'a [f32],
    dy: &'a [f32],
    dq: &'a mut [f32],
    dk: &'a mut [f32],
    dv: &'a mut [f32],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            heads,
            q,
            k,
            v,
            visible,
            weights,
            dy,
            dq,
            dk,
            dv,
        } = self;
        let sizes = heads.sizes;
        let width = padded(sizes.keys).max(1);
        let (mut q_tile, mut k_tile, mut v_columns, mut dy_tile) =
            <(Tile, Tile, Tile, Tile)>::default();
        let (mut slopes, mut result) = <(Tile, Tile)>::default();
        for head in 0..sizes.heads {
            q_tile.read(sizes.head(q, head, sizes.queries, sizes.qk));
            k_tile.read(sizes.head(k, head, sizes.keys, sizes.qk));
            v_columns.read(sizes.head(v, head, sizes.keys, sizes.vo).transposed());
            dy_tile.read(sizes.head(dy, head, sizes.queries, sizes.vo));
            let size = sizes.queries * padded(sizes.keys);
            let weights = &weights[head * size..][..size];

            slopes.resize(sizes.queries, sizes.keys);
            let dy = sizes.head(dy, head, sizes.queries, sizes.vo);
            multiply(simd, &mut slopes.elements, dy, &v_columns);
            let rows = slopes.elements.chunks_exact_mut(width);
            for ((slopes, weights), visible) in rows
                .zip(weights.chunks_exact(width))
                .zip(visible.chunks_exact(sizes.keys.max(1)))
            {
                // From the gradient of the weights to that of the logits: w (dw - Σ w dw).
                let mean = dot(slopes, weights);
                for (slope, weight) in slopes.iter_mut().zip(weights) {
                    *slope = weight * (*slope - mean) * heads.scale;
                }
                if heads.masked == MaskedLogit::Lowest {
                    // A hidden logit is a constant, whatever its weight came to be.
                    for (slope, visible) in slopes.iter_mut().zip(visible) {
                        *slope = if *visible { *slope } else { 0.0 };
                    }
                }
            }

            let weights = Matrix::strided(weights, sizes.queries, sizes.keys, padded(sizes.keys));
            let slopes = Matrix::strided(
                &slopes.elements,
                sizes.queries,
                sizes.keys,
                padded(sizes.keys),
            );
            result.resize(sizes.queries, sizes.qk);
            multiply(simd, &mut result.elements, slopes, &k_tile);
            sizes.put(dq, head, &result);
            result.resize(sizes.keys, sizes.qk);
            multiply(simd, &mut result.elements, slopes.transposed(), &q_tile);
            sizes.put(dk, head, &result);
            result.resize(sizes.keys, sizes.vo);
            multiply(simd, &mut result.elements, weights.transposed(), &dy_tile);
            sizes.put(dv, head, &result);
        }
    }
}

/// A matrix of one head, each row padded with zeros to whole lanes.
#[derive(Default)]
struct Tile {
    elements: Vec<f32>,
    columns: usize,
}

impl Tile {
    /// Makes it all zeros.
    #[inline(always)]
    fn resize(&mut self, rows: usize, columns: usize) {
        self.elements.clear();
        self.elements.resize(rows * padded(columns), 0.0);
        self.columns = columns;
    }

    #[inline(always)]
    fn read(&mut self, matrix: Matrix) {
        self.resize(matrix.rows(), matrix.columns());
        let rows = self.elements.chunks_exact_mut(padded(self.columns).max(1));
        for (i, row) in rows.enumerate() {
            for (j, element) in row[..self.columns].iter_mut().enumerate() {
                *element = matrix.at(i, j);
            }
        }
    }
}

/// `output = a b`; `output` has the rows of `a` and the padded columns of `b`.
#[inline(always)]
fn multiply<S: Simd>(simd: S, output: &mut [f32], a: Matrix, b: &Tile) {
    // Sums of several rows at once, so that an addition need not wait for the one before it.
    const ROWS: usize = 4;
    let whole = a.rows() - a.rows() % ROWS;
    for first in (0..whole).step_by(ROWS) {
        multiply_rows::<S, ROWS>(simd, output, a, b, first);
    }
    for first in whole..a.rows() {
        multiply_rows::<S, 1>(simd, output, a, b, first);
    }
}

/// [`multiply`] for `ROWS` rows. Its vectors are explicit because the compiler, left to itself, makes
/// them of neighbouring rows and not of neighbouring columns.
#[inline(always)]
fn multiply_rows<S: Simd, const ROWS: usize>(
    simd: S,
    output: &mut [f32],
    a: Matrix,
    b: &Tile,
    first: usize,
) {
    let vectors = padded(b.columns) / S::F32_LANES;
    let (b, _) = S::as_simd_f32s(&b.elements);
    let (output, _) = S::as_mut_simd_f32s(output);
    for column in 0..vectors {
        let mut sums = [simd.splat_f32s(0.0); ROWS];
        for j in 0..a.columns() {
            let b = b[j * vectors + column];
            for (row, sum) in sums.iter_mut().enumerate() {
                let factor = a.at(first + row, j);
                *sum = simd.mul_add_e_f32s(simd.splat_f32s(factor), b, *sum);
            }
        }
        for (row, sum) in sums.into_iter().enumerate() {
            output[(first + row) * vectors + column] = sum;
        }
    }
}

/// `softmax` of a row padded to whole lanes with -∞.
#[inline(always)]
fn softmax(logits: &mut [f32]) {
    let highest = max(logits);
    for logit in logits.iter_mut() {
        *logit = exp(*logit - highest);
    }
    let scale = 1.0 / sum(logits);
    for weight in logits {
        *weight *= scale;
    }
}
