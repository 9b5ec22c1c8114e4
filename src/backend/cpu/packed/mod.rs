//! Weights in fewer bits than those that they are multiplied in. A processor that decodes reads each weight once for a
//! token and waits for it, so a weight of half the bytes takes half the time.

mod format;
mod q8;
mod row_products;

pub use format::{Bf16Format, F16Format, Format};
pub use q8::{Q8Format, Q8RowsFormat};

use crate::autograd::{Buffer, prefer_huge_pages};
use crate::simd::vectorized;
use row_products::add_row_products;
use std::{ops::Range, slice::ChunksExact, sync::Arc};

/// The elements that are stored together. Every row begins with a new block.
const BLOCK_LEN: usize = 32;

/// A matrix in a [`Format`]. A clone shares its memory.
#[derive(Clone)]
pub struct PackedWeight<F: Format> {
    blocks: Arc<Vec<F::Block>>,
    /// The scale of each row, if the format has one.
    scales: Arc<Vec<f32>>,
    columns: usize,
}

/// A vector that a matrix in a [`Format`] is multiplied by.
pub struct PackedInput<F: Format> {
    blocks: Vec<F::InputBlock>,
    scale: f32,
}

/// The factor that divides by `scale`. It is 0 if the scale is below the normal numbers: all multiples become 0.
fn reciprocal(scale: f32) -> f32 {
    if scale < f32::MIN_POSITIVE { 0.0 } else { scale.recip() }
}

impl<F: Format> PackedWeight<F> {
    /// Packs rows of `columns` elements, which are in row-major order; `None` if one is too large for the format.
    pub fn pack(elements: impl ExactSizeIterator<Item = f32>, columns: usize) -> Option<Self> {
        let (mut elements, len) = (elements.peekable(), columns.max(1));
        let mut blocks = Vec::with_capacity(elements.len() / len * len.div_ceil(BLOCK_LEN));
        let (mut row, mut scales) = (vec![0.0; columns.next_multiple_of(BLOCK_LEN)], Vec::new());
        while elements.peek().is_some() {
            row.iter_mut().zip(elements.by_ref().take(columns)).for_each(|(to, element)| *to = element);
            if let Some(scale) = F::row_scale(&row) {
                let factor = reciprocal(scale);
                row.iter_mut().for_each(|element| *element *= factor);
                scales.push(scale);
            }
            for block in row.as_chunks().0 {
                blocks.push(F::pack(block)?);
            }
        }
        prefer_huge_pages(&blocks, true);
        Some(Self { blocks: Arc::new(blocks), scales: Arc::new(scales), columns })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The bytes of the elements in memory.
    pub fn len_bytes(&self) -> usize {
        size_of_val(&self.blocks[..]) + size_of_val(&self.scales[..])
    }

    /// The blocks of some rows, row by row.
    fn rows(&self, rows: Range<usize>) -> ChunksExact<'_, F::Block> {
        let len = self.columns.div_ceil(BLOCK_LEN);
        self.blocks[rows.start * len..rows.end * len].chunks_exact(len.max(1))
    }

    /// Writes the elements of some rows.
    pub fn unpack(&self, rows: Range<usize>, elements: &mut [f32]) {
        vectorized!(for (blocks, row) in self.rows(rows.clone()).zip(elements.chunks_exact_mut(self.columns.max(1))) {
            let (whole, rest) = row.as_chunks_mut::<BLOCK_LEN>();
            for (block, elements) in blocks.iter().zip(whole) {
                for (i, element) in elements.iter_mut().enumerate() {
                    *element = F::element(block, i);
                }
            }
            if let Some(block) = blocks.last() {
                rest.iter_mut().enumerate().for_each(|(i, element)| *element = F::element(block, i));
            }
        });
        for (row, scale) in elements.chunks_exact_mut(self.columns.max(1)).zip(self.scales(rows)) {
            vectorized!(row.iter_mut().for_each(|element| *element *= scale));
        }
    }

    /// The scales of some rows, if the format has them.
    fn scales(&self, rows: Range<usize>) -> &[f32] {
        self.scales.get(rows).unwrap_or_default()
    }

    /// `y += W x` for some rows of the matrix `W`, with a [packed](Self::pack_input) `x`.
    pub fn add_product(&self, rows: Range<usize>, x: &PackedInput<F>, y: &mut [f32]) {
        if self.scales.is_empty() {
            return add_row_products::<F>(self.rows(rows), &x.blocks, y);
        }
        let mut product = Buffer::zeros(y.len());
        add_row_products::<F>(self.rows(rows.clone()), &x.blocks, &mut product);
        for ((y, product), scale) in y.iter_mut().zip(product.iter()).zip(self.scales(rows)) {
            *y += product * scale * x.scale;
        }
    }

    /// The blocks of a vector, the last one filled up with zeros, and its scale.
    pub fn pack_input(x: &[f32]) -> PackedInput<F> {
        let scale = vectorized!(F::input_scale(x));
        let factor = scale.map(reciprocal);
        let (blocks, rest) = x.as_chunks::<BLOCK_LEN>();
        let mut last = [0.0; BLOCK_LEN];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        let mut packed = Vec::with_capacity(blocks.len() + 1);
        vectorized!(for block in blocks.iter().chain(last) {
            let mut block = *block;
            if let Some(factor) = factor {
                for x in &mut block {
                    *x *= factor;
                }
            }
            packed.push(F::pack_input(&block));
        });
        PackedInput { blocks: packed, scale: scale.unwrap_or(1.0) }
    }
}
