use super::{add_assign, gradient, math::exp, matmul::Matrix, read};
use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::{AttentionScale, MaskedLogit},
};
use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Head by head on what lies side by side in memory: nothing is permuted, and of the scores only the
/// weights are written out.
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
    scale: AttentionScale,
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
    let scale = scale.factor(sizes.heads, sizes.qk) as f32;
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
            Arch::new().dispatch(Forward {
                sizes,
                q,
                k,
                v,
                visible,
                scale,
                masked,
                weights,
                y,
            });
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
            for_each(work, 2 * sizes.cost(), |work| {
                let ((((dq, dk), dv), ((q, k), v)), ((visible, weights), dy)) = work;
                Arch::new().dispatch(Backward {
                    sizes,
                    q,
                    k,
                    v,
                    visible,
                    scale,
                    masked,
                    weights,
                    dy,
                    dq,
                    dk,
                    dv,
                });
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

    /// What belongs to one head, of `positions` vectors with `size` elements for each head.
    #[inline(always)]
    fn head(self, all: &[f32], head: usize, positions: usize, size: usize) -> Matrix<'_> {
        let elements = all.get(head * size..).unwrap_or_default();
        Matrix::strided(elements, positions, size, self.heads * size)
    }

    /// Adds a head's tile to where it belongs.
    #[inline(always)]
    fn add(self, all: &mut [f32], head: usize, tile: &Tile) {
        let vectors = all.chunks_exact_mut((self.heads * tile.columns).max(1));
        for (vector, row) in vectors.zip(tile.elements.chunks_exact(padded(tile.columns).max(1))) {
            let vector = &mut vector[head * tile.columns..][..tile.columns];
            for (to, from) in vector.iter_mut().zip(row) {
                *to += from;
            }
        }
    }
}

/// One batch row: `weights = softmax(scale · q kᵀ)` where visible, `y += weights v`.
struct Forward<'a> {
    sizes: Sizes,
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
    visible: &'a [bool],
    scale: f32,
    masked: MaskedLogit,
    weights: &'a mut [f32],
    y: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            sizes,
            q,
            k,
            v,
            visible,
            scale,
            masked,
            weights,
            y,
        } = self;
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
                    let scaled = *logit * scale;
                    let hidden = match masked {
                        MaskedLogit::Lowest => f32::MIN,
                        MaskedLogit::Minus(amount) => scaled - amount as f32,
                    };
                    *logit = if *visible { scaled } else { hidden };
                }
                logits[sizes.keys..].fill(f32::NEG_INFINITY);
                softmax(logits);
            }
            y_tile.resize(sizes.queries, sizes.vo);
            let weights = Matrix::strided(weights, sizes.queries, sizes.keys, padded(sizes.keys));
            multiply(simd, &mut y_tile.elements, weights, &v_tile);
            sizes.add(y, head, &y_tile);
        }
    }
}

/// One batch row: the gradients of query, key and value from that of the output.
struct Backward<'a> {
    sizes: Sizes,
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
    visible: &'a [bool],
    scale: f32,
    masked: MaskedLogit,
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
            sizes,
            q,
            k,
            v,
            visible,
            scale,
            masked,
            weights,
            dy,
            dq,
            dk,
            dv,
        } = self;
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
                    *slope = weight * (*slope - mean) * scale;
                }
                if masked == MaskedLogit::Lowest {
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
            sizes.add(dq, head, &result);
            result.resize(sizes.keys, sizes.qk);
            multiply(simd, &mut result.elements, slopes.transposed(), &q_tile);
            sizes.add(dk, head, &result);
            result.resize(sizes.keys, sizes.vo);
            multiply(simd, &mut result.elements, weights.transposed(), &dy_tile);
            sizes.add(dv, head, &result);
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
