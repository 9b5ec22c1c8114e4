use super::{add_assign, gradient, math::exp, read, vectorized};
use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::MaskedLogit,
};
use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};
use rayon::prelude::*;

/// Head by head on what lies side by side in memory: nothing is permuted, and of scores only the
/// weights are written out, and only for the gradients.
pub fn attention<
    B: Dim,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    T: Tape<f32, Cpu>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), f32, Cpu, T>,
    key: Tensor<(B, K, Product<H, QKDim>), f32, Cpu, T>,
    value: Tensor<(B, K, Product<H, VODim>), f32, Cpu, T>,
    mask: &AttentionMask<B, Q, K>,
    masked: MaskedLogit,
) -> Result<Tensor<(B, Q, Product<H, VODim>), f32, Cpu, T>, CpuError> {
    let ((batch, queries, _), (_, keys, _)) = (*query.shape(), *key.shape());
    let (query, tape) = query.try_contiguous()?.split_tape();
    let (key, key_tape) = key.try_contiguous()?.split_tape();
    let (value, value_tape) = value.try_contiguous()?.split_tape();
    let mut tape = tape.merge(key_tape.merge(value_tape));

    let sizes = Sizes {
        queries: queries.size(),
        keys: keys.size(),
        heads: H::SIZE,
        qk: QKDim::SIZE,
        vo: VODim::SIZE,
    };
    let (q, k, v) = (read(&query), read(&key), read(&value));
    let mask = mask.clone();
    let mut y = vec![0.0; batch.size() * sizes.y()];
    let mut weights = vec![0.0; batch.size() * sizes.weights()];
    let outputs = rows_mut(&mut y, sizes.y()).zip(rows_mut(&mut weights, sizes.weights()));
    let inputs = rows(&q, sizes.q())
        .zip(rows(&k, sizes.k()))
        .zip(rows(&v, sizes.v()));
    let work = outputs.zip(inputs).zip(rows(mask.as_slice(), sizes.mask()));
    for_each(
        work.collect(),
        sizes.cost(),
        |(((y, weights), ((q, k), v)), visible)| {
            sizes.forward(q, k, v, visible, masked, weights, y);
        },
    );
    let shape = (batch, queries, Product::default());
    let output = query.device().try_tensor_from_vec(y, shape)?;

    if T::OWNS_TAPE {
        let (query, key, value) = (query.ghost(), key.ghost(), value.ghost());
        let out = output.ghost();
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            let mut dq = vec![0.0; q.len()];
            let mut dk = vec![0.0; k.len()];
            let mut dv = vec![0.0; v.len()];
            let outputs = rows_mut(&mut dq, sizes.q())
                .zip(rows_mut(&mut dk, sizes.k()))
                .zip(rows_mut(&mut dv, sizes.v()));
            let inputs = rows(&q, sizes.q())
                .zip(rows(&k, sizes.k()))
                .zip(rows(&v, sizes.v()));
            let known = rows(mask.as_slice(), sizes.mask())
                .zip(rows(&weights, sizes.weights()))
                .zip(rows(&dy, sizes.y()));
            let work = outputs.zip(inputs).zip(known).collect();
            for_each(work, 2 * sizes.cost(), |((outputs, inputs), known)| {
                sizes.backward(inputs, known, masked, outputs);
            });
            add_assign(gradient!(gradients, query), &dq);
            add_assign(gradient!(gradients, key), &dk);
            add_assign(gradient!(gradients, value), &dv);
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}

/// The part of each batch row.
fn rows<Element>(all: &[Element], size: usize) -> std::slice::ChunksExact<'_, Element> {
    all.chunks_exact(size.max(1))
}

/// The part of each batch row.
fn rows_mut(all: &mut [f32], size: usize) -> std::slice::ChunksExactMut<'_, f32> {
    all.chunks_exact_mut(size.max(1))
}

/// Runs `row` on every row, on all threads if `cost` multiply-adds a row are worth it.
fn for_each<Row: Send>(rows: Vec<Row>, cost: usize, row: impl Fn(Row) + Send + Sync) {
    if rows.len() * cost < 1 << 20 {
        rows.into_iter().for_each(row);
    } else {
        rows.into_par_iter().for_each(row);
    }
}

/// The sizes of one batch row.
#[derive(Clone, Copy)]
struct Sizes {
    queries: usize,
    keys: usize,
    heads: usize,
    qk: usize,
    vo: usize,
}

impl Sizes {
    fn q(self) -> usize {
        self.queries * self.heads * self.qk
    }
    fn k(self) -> usize {
        self.keys * self.heads * self.qk
    }
    fn v(self) -> usize {
        self.keys * self.heads * self.vo
    }
    fn y(self) -> usize {
        self.queries * self.heads * self.vo
    }
    fn mask(self) -> usize {
        self.queries * self.keys
    }
    /// Weights are kept with their keys padded to whole lanes.
    fn weights(self) -> usize {
        self.heads * self.queries * padded(self.keys)
    }
    fn cost(self) -> usize {
        self.weights() * (self.qk + self.vo)
    }

    /// One batch row: `weights = softmax(q kᵀ / √QKDim)` where visible, `y = weights v`.
    #[allow(clippy::too_many_arguments)]
    fn forward(
        self,
        q: &[f32],
        k: &[f32],
        v: &[f32],
        visible: &[bool],
        masked: MaskedLogit,
        weights: &mut [f32],
        y: &mut [f32],
    ) {
        let scale = 1.0 / (self.qk as f32).sqrt();
        vectorized(
            #[inline(always)]
            || {
                for head in 0..self.heads {
                    let q = self.tile(q, self.queries, head, self.qk);
                    let k = self.tile(k, self.keys, head, self.qk).transposed();
                    let v = self.tile(v, self.keys, head, self.vo);
                    let size = self.queries * padded(self.keys);
                    let weights = &mut weights[head * size..][..size];
                    multiply(weights, q.by_rows(), &k);
                    let rows = weights.chunks_exact_mut(padded(self.keys).max(1));
                    for (logits, visible) in rows.zip(visible.chunks_exact(self.keys.max(1))) {
                        let (logits, padding) = logits.split_at_mut(self.keys);
                        for (logit, visible) in logits.iter_mut().zip(visible) {
                            let scaled = *logit * scale;
                            let hidden = match masked {
                                MaskedLogit::Lowest => f32::MIN,
                                MaskedLogit::Minus(amount) => scaled - amount as f32,
                            };
                            *logit = if *visible { scaled } else { hidden };
                        }
                        padding.fill(f32::NEG_INFINITY);
                    }
                    for logits in weights.chunks_exact_mut(padded(self.keys).max(1)) {
                        softmax(logits);
                    }
                    let mut output = Tile::zeros(self.queries, self.vo);
                    let weights = Factors::rows(weights, self.queries, self.keys);
                    multiply(&mut output.elements, weights, &v);
                    self.add_tile(y, &output, head);
                }
            },
        );
    }

    /// One batch row: the gradients of query, key and value from that of the output.
    fn backward(
        self,
        ((q, k), v): ((&[f32], &[f32]), &[f32]),
        ((visible, weights), dy): ((&[bool], &[f32]), &[f32]),
        masked: MaskedLogit,
        ((dq, dk), dv): ((&mut [f32], &mut [f32]), &mut [f32]),
    ) {
        let scale = 1.0 / (self.qk as f32).sqrt();
        vectorized(
            #[inline(always)]
            || {
                for head in 0..self.heads {
                    let q = self.tile(q, self.queries, head, self.qk);
                    let k = self.tile(k, self.keys, head, self.qk);
                    let v = self.tile(v, self.keys, head, self.vo).transposed();
                    let dy = self.tile(dy, self.queries, head, self.vo);
                    let size = self.queries * padded(self.keys);
                    let weights = &weights[head * size..][..size];

                    let mut slopes = Tile::zeros(self.queries, self.keys);
                    multiply(&mut slopes.elements, dy.by_rows(), &v);
                    let rows = slopes.elements.chunks_exact_mut(padded(self.keys).max(1));
                    let rows = rows.zip(weights.chunks_exact(padded(self.keys).max(1)));
                    for ((slopes, weights), visible) in
                        rows.zip(visible.chunks_exact(self.keys.max(1)))
                    {
                        // From the gradient of the weights to that of the logits: w (dw - Σ w dw).
                        let mean = dot(slopes, weights);
                        for (slope, weight) in slopes.iter_mut().zip(weights) {
                            *slope = weight * (*slope - mean) * scale;
                        }
                        if masked == MaskedLogit::Lowest {
                            // A hidden logit is a constant, whatever its weight came to be.
                            for (slope, visible) in slopes.iter_mut().zip(visible) {
                                *slope = if *visible { *slope } else { 0.0 };
                            }
                        }
                    }

                    let weights = Factors::rows(weights, self.queries, self.keys);
                    let slopes = Factors::rows(&slopes.elements, self.queries, self.keys);
                    let mut output = Tile::zeros(self.queries, self.qk);
                    multiply(&mut output.elements, slopes, &k);
                    self.add_tile(dq, &output, head);
                    let mut output = Tile::zeros(self.keys, self.qk);
                    multiply(&mut output.elements, slopes.transposed(), &q);
                    self.add_tile(dk, &output, head);
                    let mut output = Tile::zeros(self.keys, self.vo);
                    multiply(&mut output.elements, weights.transposed(), &dy);
                    self.add_tile(dv, &output, head);
                }
            },
        );
    }

    /// What belongs to one head, of `positions` vectors of `size` elements a head.
    #[inline(always)]
    fn tile(self, all: &[f32], positions: usize, head: usize, size: usize) -> Tile {
        let mut tile = Tile::zeros(positions, size);
        let vectors = all.chunks_exact((self.heads * size).max(1));
        for (row, vector) in tile
            .elements
            .chunks_exact_mut(padded(size).max(1))
            .zip(vectors)
        {
            row[..size].copy_from_slice(&vector[head * size..][..size]);
        }
        tile
    }

    /// Adds a head's tile to where it belongs.
    #[inline(always)]
    fn add_tile(self, all: &mut [f32], tile: &Tile, head: usize) {
        let vectors = all.chunks_exact_mut((self.heads * tile.columns).max(1));
        for (vector, row) in vectors.zip(tile.elements.chunks_exact(padded(tile.columns).max(1))) {
            add_assign(&mut vector[head * tile.columns..][..tile.columns], row);
        }
    }
}

/// As many elements as are calculated with at once: a vector register of AVX-512, two of AVX2, four
/// of SSE2 or NEON.
const LANES: usize = 16;

/// The next multiple of [`LANES`].
fn padded(size: usize) -> usize {
    size.next_multiple_of(LANES)
}

/// A matrix of one head, each row padded with zeros to whole lanes.
struct Tile {
    elements: Vec<f32>,
    rows: usize,
    columns: usize,
}

impl Tile {
    #[inline(always)]
    fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            elements: vec![0.0; rows * padded(columns)],
            rows,
            columns,
        }
    }

    #[inline(always)]
    fn transposed(&self) -> Self {
        let mut tile = Self::zeros(self.columns, self.rows);
        for (i, row) in self
            .elements
            .chunks_exact(padded(self.columns).max(1))
            .enumerate()
        {
            for (j, element) in row[..self.columns].iter().enumerate() {
                tile.elements[j * padded(self.rows) + i] = *element;
            }
        }
        tile
    }

    #[inline(always)]
    fn by_rows(&self) -> Factors<'_> {
        Factors::rows(&self.elements, self.rows, self.columns)
    }
}

/// The left side of a product: any matrix, element by element.
#[derive(Clone, Copy)]
struct Factors<'a> {
    elements: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Factors<'a> {
    /// Rows padded to whole lanes.
    #[inline(always)]
    fn rows(elements: &'a [f32], rows: usize, columns: usize) -> Self {
        Self {
            elements,
            rows,
            columns,
            row_stride: padded(columns),
            column_stride: 1,
        }
    }

    #[inline(always)]
    fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// `output = a b`; `output` has the rows of `a` and the padded columns of `b`.
#[inline(always)]
fn multiply(output: &mut [f32], a: Factors, b: &Tile) {
    // Sums of several rows at once, so that an addition need not wait for the one before it.
    const ROWS: usize = 4;
    let whole = a.rows - a.rows % ROWS;
    for row in (0..whole).step_by(ROWS) {
        multiply_rows::<ROWS>(output, a, b, row);
    }
    for row in whole..a.rows {
        multiply_rows::<1>(output, a, b, row);
    }
}

#[inline(always)]
fn multiply_rows<const ROWS: usize>(output: &mut [f32], a: Factors, b: &Tile, first: usize) {
    let chunks = padded(b.columns) / LANES;
    let b = b.elements.as_chunks::<LANES>().0;
    let output = output.as_chunks_mut::<LANES>().0;
    for chunk in 0..chunks {
        let mut sums = [[0.0; LANES]; ROWS];
        for j in 0..a.columns {
            let b = &b[j * chunks + chunk];
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = a.elements[(first + row) * a.row_stride + j * a.column_stride];
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum += factor * b;
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            output[(first + row) * chunks + chunk] = *sums;
        }
    }
}

/// `Σ a b` of rows padded to whole lanes.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a
        .as_chunks::<LANES>()
        .0
        .iter()
        .zip(b.as_chunks::<LANES>().0)
    {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    total(sums)
}

/// `softmax` of a row padded to whole lanes with -∞.
#[inline(always)]
fn softmax(logits: &mut [f32]) {
    let lanes = logits.as_chunks_mut::<LANES>().0;
    let mut highest = [f32::NEG_INFINITY; LANES];
    for chunk in lanes.iter() {
        for (highest, logit) in highest.iter_mut().zip(chunk) {
            *highest = if *logit > *highest { *logit } else { *highest };
        }
    }
    let highest = halves(highest, |a, b| if a > b { a } else { b });
    let mut sums = [0.0; LANES];
    for chunk in lanes.iter_mut() {
        for (logit, sum) in chunk.iter_mut().zip(&mut sums) {
            *logit = exp(*logit - highest);
            *sum += *logit;
        }
    }
    let scale = 1.0 / total(sums);
    for chunk in lanes {
        for weight in chunk {
            *weight *= scale;
        }
    }
}

/// The sum of all lanes.
#[inline(always)]
fn total(lanes: [f32; LANES]) -> f32 {
    halves(lanes, |a, b| a + b)
}

/// Joins the upper half of the lanes to the lower until one is left.
#[inline(always)]
fn halves(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = join(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}
