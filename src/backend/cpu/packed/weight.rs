use super::Format;
use crate::{autograd::Buffer, huge_pages::prefer_huge_pages, simd::dispatch_simd};
use std::{ops::Range, slice::ChunksExact, sync::Arc};

/// The elements that are stored together. Every row begins with a new block.
pub const BLOCK_LEN: usize = 32;

/// A matrix in a [`Format`]. A clone has the same memory.
#[derive(Clone)]
pub struct PackedWeight<F: Format> {
    blocks: Arc<Vec<F::Block>>,
    columns: usize,
}

impl<F: Format> PackedWeight<F> {
    /// Packs rows of `columns` elements, which are in row-major order; `None` if one is too large for the format.
    pub fn pack(elements: impl ExactSizeIterator<Item = f32>, columns: usize) -> Option<Self> {
        let (mut elements, len) = (elements.peekable(), columns.max(1));
        let mut blocks = Vec::with_capacity(elements.len() / len * len.div_ceil(BLOCK_LEN));
        while elements.peek().is_some() {
            for start in (0..columns).step_by(BLOCK_LEN) {
                let mut block = [0.0; BLOCK_LEN];
                let len = BLOCK_LEN.min(columns - start);
                block[..len].iter_mut().zip(&mut elements).for_each(|(to, element)| *to = element);
                blocks.push(F::pack(&block)?);
            }
        }
        prefer_huge_pages(&blocks);
        Some(Self { blocks: Arc::new(blocks), columns })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The bytes of the elements in memory.
    pub fn len_bytes(&self) -> usize {
        size_of_val(&self.blocks[..])
    }

    fn blocks_per_row(&self) -> usize {
        self.columns.div_ceil(BLOCK_LEN)
    }

    /// The blocks of each of some rows.
    fn rows(&self, rows: Range<usize>) -> ChunksExact<'_, F::Block> {
        let len = self.blocks_per_row();
        self.blocks[rows.start * len..rows.end * len].chunks_exact(len.max(1))
    }

    /// Writes the elements of some rows.
    pub fn unpack(&self, rows: Range<usize>, elements: &mut [f32]) {
        dispatch_simd(
            #[inline(always)]
            || {
                for (blocks, row) in self.rows(rows.clone()).zip(elements.chunks_exact_mut(self.columns.max(1))) {
                    let (whole, rest) = row.as_chunks_mut::<BLOCK_LEN>();
                    for (block, elements) in blocks.iter().zip(whole) {
                        for (i, element) in elements.iter_mut().enumerate() {
                            *element = F::element(block, i);
                        }
                    }
                    if let Some(block) = blocks.last() {
                        rest.iter_mut().enumerate().for_each(|(i, element)| *element = F::element(block, i));
                    }
                }
            },
        );
    }

    /// `y += W x` for some rows of the matrix `W`. `x` is [padded](Self::padded).
    ///
    /// The blocks are read from the first to the last, in one sequence of addresses, and each only once.
    pub fn add_product(&self, rows: Range<usize>, x: &[f32], y: &mut [f32]) {
        let x = x.as_chunks::<BLOCK_LEN>().0;
        dispatch_simd(
            #[inline(always)]
            || {
                for (y, blocks) in y.iter_mut().zip(self.rows(rows.clone())) {
                    *y += dot::<F>(blocks, x);
                }
            },
        );
    }

    /// A vector with zeros behind it, so that it has the length of a row of blocks.
    pub fn padded(&self, x: &[f32]) -> Buffer {
        let mut padded = Buffer::zeros(self.blocks_per_row() * BLOCK_LEN);
        padded[..x.len()].copy_from_slice(x);
        padded
    }
}

/// `Σ a x`. Each element is widened in a register.
#[inline(always)]
fn dot<F: Format>(blocks: &[F::Block], x: &[[f32; BLOCK_LEN]]) -> f32 {
    let mut sums = [0.0; BLOCK_LEN];
    for (block, x) in blocks.iter().zip(x) {
        for i in 0..BLOCK_LEN {
            sums[i] += F::element(block, i) * x[i];
        }
    }
    let mut len = BLOCK_LEN / 2;
    while len > 0 {
        for i in 0..len {
            sums[i] += sums[i + len];
        }
        len /= 2;
    }
    sums[0]
}
