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
    backend::{AttentionScale, MaskFill},
    dims::{ConstDim, Dim},
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use pulp::{Arch, Simd, WithSimd};
use std::{mem, ops::Range, sync::Arc};

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
    pub masked: MaskFill,
}

impl Heads {
    pub fn new<H: ConstDim, QKDim: ConstDim, VODim: ConstDim>(
        (_, queries, keys): (impl Dim, impl Dim, impl Dim),
        scale: AttentionScale,
        masked: MaskFill,
    ) -> Self {
        let sizes = Sizes {
            queries: queries.size(),
            keys: keys.size(),
            heads: H::SIZE,
            qk: QKDim::SIZE,
            vo: VODim::SIZE,
        };
        Self { sizes, scale: scale.factor(H::SIZE, QKDim::SIZE) as f32, masked }
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
            MaskFill::MinValue => f32::MIN,
            MaskFill::Subtract(amount) => scaled - amount as f32,
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
        let mut tiles = ForwardTiles {
            k_columns: Tile::new(sizes.qk, sizes.keys),
            v: Tile::new(sizes.keys, sizes.vo),
            y: Tile::new(sizes.queries, sizes.vo),
        };
        for (q, k, v, visible, weights, y) in sequences {
            Arch::new().dispatch(Forward { heads: self, q, k, v, visible, weights, y, tiles: &mut tiles });
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
        let mut tiles = BackwardTiles {
            q: Tile::new(sizes.queries, sizes.qk),
            k: Tile::new(sizes.keys, sizes.qk),
            v_columns: Tile::new(sizes.vo, sizes.keys),
            dy: Tile::new(sizes.queries, sizes.vo),
            slopes: Tile::new(sizes.queries, sizes.keys),
            dq: Tile::new(sizes.queries, sizes.qk),
            dk: Tile::new(sizes.keys, sizes.qk),
            dv: Tile::new(sizes.keys, sizes.vo),
        };
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
                tiles: &mut tiles,
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
    /// In [`Layout::Rows`]: weights are kept with their keys padded to a multiple of `LANES`.
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

/// How far the queries of a sequence see, and from which query on a key is seen: what lies beyond
/// weighs nothing, and need not be calculated.
struct Sight {
    keys: Vec<usize>,
    first_queries: Vec<usize>,
}

impl Sight {
    fn new(heads: Heads, visible: &[bool]) -> Self {
        let sizes = heads.sizes;
        let rows = visible.chunks_exact(sizes.keys.max(1));
        let keys: Vec<usize> = rows
            .map(|row| match heads.masked {
                // A row without any visible key weighs all of them alike.
                MaskFill::MinValue => {
                    row.iter().rposition(|visible| *visible).map_or(sizes.keys, |last| last + 1)
                }
                MaskFill::Subtract(_) => sizes.keys,
            })
            .collect();
        let mut first_queries = Vec::with_capacity(sizes.keys);
        for (query, &keys) in keys.iter().enumerate() {
            first_queries.resize(first_queries.len().max(keys), query);
        }
        first_queries.resize(sizes.keys, sizes.queries);
        Self { keys, first_queries }
    }

    /// The keys that some of these queries see.
    #[inline(always)]
    fn of_queries(&self, queries: Range<usize>) -> usize {
        self.keys[queries].iter().copied().max().unwrap_or_default()
    }

    /// The queries that may see some of these keys.
    #[inline(always)]
    fn of_keys(&self, keys: Range<usize>) -> Range<usize> {
        // The first query that sees a key is never before the first that sees the key before it.
        let first = self.first_queries.get(keys.start);
        first.copied().unwrap_or_default()..self.keys.len()
    }
}

struct ForwardTiles {
    k_columns: Tile,
    v: Tile,
    y: Tile,
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
    tiles: &'a mut ForwardTiles,
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { heads, q, k, v, visible, weights, y, tiles } = self;
        let sizes = heads.sizes;
        let width = padded(sizes.keys).max(1);
        let sight = Sight::new(heads, visible);
        for head in 0..sizes.heads {
            let of_k = sizes.head(k, head, sizes.keys, sizes.qk);
            tiles.k_columns.read(of_k.transposed());
            tiles.v.read(sizes.head(v, head, sizes.keys, sizes.vo));
            let size = sizes.queries * padded(sizes.keys);
            let weights = &mut weights[head * size..][..size];
            let q = sizes.head(q, head, sizes.queries, sizes.qk);
            multiply(simd, weights, q, &tiles.k_columns, |queries| (0..sizes.qk, sight.of_queries(queries)));
            let rows = weights.chunks_exact_mut(width);
            let rows = rows.zip(visible.chunks_exact(sizes.keys.max(1)));
            for ((logits, visible), &seen) in rows.zip(&sight.keys) {
                let (logits, beyond) = logits.split_at_mut(padded(seen));
                beyond.fill(0.0);
                for (logit, visible) in logits.iter_mut().zip(visible) {
                    *logit = heads.logit(*logit, *visible);
                }
                logits[seen..].fill(f32::NEG_INFINITY);
                softmax(logits);
            }
            let weights = Matrix::strided(weights, sizes.queries, sizes.keys, padded(sizes.keys));
            multiply(simd, &mut tiles.y.elements, weights, &tiles.v, |queries| {
                (0..sight.of_queries(queries), sizes.vo)
            });
            sizes.put(y, head, &tiles.y);
        }
    }
}

struct BackwardTiles {
    q: Tile,
    k: Tile,
    v_columns: Tile,
    dy: Tile,
    slopes: Tile,
    dq: Tile,
    dk: Tile,
    dv: Tile,
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
    tiles: &'a mut BackwardTiles,
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { heads, q, k, v, visible, weights, dy, dq, dk, dv, tiles } = self;
        let sizes = heads.sizes;
        let width = padded(sizes.keys).max(1);
        let sight = Sight::new(heads, visible);
        for head in 0..sizes.heads {
            tiles.q.read(sizes.head(q, head, sizes.queries, sizes.qk));
            tiles.k.read(sizes.head(k, head, sizes.keys, sizes.qk));
            let of_v = sizes.head(v, head, sizes.keys, sizes.vo);
            tiles.v_columns.read(of_v.transposed());
            tiles.dy.read(sizes.head(dy, head, sizes.queries, sizes.vo));
            let size = sizes.queries * padded(sizes.keys);
            let weights = &weights[head * size..][..size];

            let slopes = &mut *tiles.slopes.elements;
            let dy = sizes.head(dy, head, sizes.queries, sizes.vo);
            multiply(simd, slopes, dy, &tiles.v_columns, |queries| (0..sizes.vo, sight.of_queries(queries)));
            let rows = slopes.chunks_exact_mut(width);
            for (((slopes, weights), visible), &seen) in rows
                .zip(weights.chunks_exact(width))
                .zip(visible.chunks_exact(sizes.keys.max(1)))
                .zip(&sight.keys)
            {
                let (slopes, beyond) = slopes.split_at_mut(padded(seen));
                beyond.fill(0.0);
                // From the gradient of the weights to that of the logits: w (dw - Σ w dw).
                let mean = dot(slopes, &weights[..slopes.len()]);
                for (slope, weight) in slopes.iter_mut().zip(weights) {
                    *slope = weight * (*slope - mean) * heads.scale;
                }
                if heads.masked == MaskFill::MinValue {
                    // A hidden logit is a constant, whatever its weight came to be.
                    for (slope, visible) in slopes.iter_mut().zip(visible) {
                        *slope = if *visible { *slope } else { 0.0 };
                    }
                }
            }

            let weights = Matrix::strided(weights, sizes.queries, sizes.keys, padded(sizes.keys));
            let slopes = Matrix::strided(slopes, sizes.queries, sizes.keys, padded(sizes.keys));
            multiply(simd, &mut tiles.dq.elements, slopes, &tiles.k, |queries| {
                (0..sight.of_queries(queries), sizes.qk)
            });
            sizes.put(dq, head, &tiles.dq);
            let slopes = slopes.transposed();
            multiply(simd, &mut tiles.dk.elements, slopes, &tiles.q, |keys| (sight.of_keys(keys), sizes.qk));
            sizes.put(dk, head, &tiles.dk);
            let weights = weights.transposed();
            multiply(simd, &mut tiles.dv.elements, weights, &tiles.dy, |keys| {
                (sight.of_keys(keys), sizes.vo)
            });
            sizes.put(dv, head, &tiles.dv);
        }
    }
}

/// A matrix of one head, each row padded with zeros to whole lanes.
struct Tile {
    elements: Buffer,
    columns: usize,
}

impl Tile {
    fn new(rows: usize, columns: usize) -> Self {
        Self { elements: Buffer::zeros(rows * padded(columns)), columns }
    }

    #[inline(always)]
    fn read(&mut self, matrix: Matrix) {
        let width = padded(self.columns).max(1);
        if let Some(rows) = matrix.contiguous_rows() {
            for (to, row) in self.elements.chunks_exact_mut(width).zip(rows) {
                to[..self.columns].copy_from_slice(row);
            }
        } else {
            // Column by column, as the numbers of what was transposed lie.
            for column in 0..matrix.columns() {
                let to = self.elements[column..].iter_mut().step_by(width);
                for (row, to) in to.enumerate().take(matrix.rows()) {
                    *to = matrix.at(row, column);
                }
            }
        }
    }
}

/// `output = a b`; `output` has the rows of `a` and the padded columns of `b`. For some rows at a time,
/// `extent` says which columns of `a` matter, and how many columns of `b`; the others of `output`
/// are left as they are.
#[inline(always)]
fn multiply<S: Simd>(
    simd: S,
    output: &mut [f32],
    a: Matrix,
    b: &Tile,
    extent: impl Fn(Range<usize>) -> (Range<usize>, usize),
) {
    const ROWS: usize = 4;
    let whole = a.rows() - a.rows() % ROWS;
    for first in (0..whole).step_by(ROWS) {
        let (inner, columns) = extent(first..first + ROWS);
        multiply_rows::<S, ROWS>(simd, output, a, b, first, inner, columns);
    }
    for first in whole..a.rows() {
        let (inner, columns) = extent(first..first + 1);
        multiply_rows::<S, 1>(simd, output, a, b, first, inner, columns);
    }
}

/// [`multiply`] for `ROWS` rows.
#[inline(always)]
fn multiply_rows<S: Simd, const ROWS: usize>(
    simd: S,
    output: &mut [f32],
    a: Matrix,
    b: &Tile,
    first: usize,
    inner: Range<usize>,
    columns: usize,
) {
    // Sums of several rows and vectors at once, so that an addition need not wait for the one before
    // it, and that what is read is used several times.
    const VECTORS: usize = 2;
    let vectors = padded(columns) / S::F32_LANES;
    let whole = vectors - vectors % VECTORS;
    for column in (0..whole).step_by(VECTORS) {
        multiply_block::<S, ROWS, VECTORS>(simd, output, a, b, first, inner.clone(), column);
    }
    for column in whole..vectors {
        multiply_block::<S, ROWS, 1>(simd, output, a, b, first, inner.clone(), column);
    }
}

/// [`multiply`] for `ROWS` rows and `VECTORS` vectors of each. Its vectors are explicit because the
/// compiler, left to itself, makes them of neighbouring rows and not of neighbouring columns.
#[inline(always)]
fn multiply_block<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    output: &mut [f32],
    a: Matrix,
    b: &Tile,
    first: usize,
    inner: Range<usize>,
    column: usize,
) {
    let vectors = padded(b.columns) / S::F32_LANES;
    let (b, _) = S::as_simd_f32s(&b.elements);
    let (output, _) = S::as_mut_simd_f32s(output);
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    for j in inner {
        let b = &b[j * vectors + column..][..VECTORS];
        for (row, sums) in sums.iter_mut().enumerate() {
            let factor = simd.splat_f32s(a.at(first + row, j));
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = simd.mul_add_e_f32s(factor, *b, *sum);
            }
        }
    }
    for (row, sums) in sums.into_iter().enumerate() {
        let output = &mut output[(first + row) * vectors + column..][..VECTORS];
        for (output, sum) in output.iter_mut().zip(sums) {
            *output = sum;
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
