use super::Format;
use crate::{simd::vectorized, system_memory::prefer_huge_pages};
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
        prefer_huge_pages(&blocks, true);
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
    }

    /// `y += W x` for some rows of the matrix `W`, with a [packed](Self::pack_input) `x`.
    pub fn add_product(&self, rows: Range<usize>, x: &[F::InputBlock], y: &mut [f32]) {
        F::add_product(self.rows(rows), x, y);
    }

    /// The blocks of a vector, the last one filled up with zeros.
    pub fn pack_input(x: &[f32]) -> Vec<F::InputBlock> {
        let (blocks, rest) = x.as_chunks::<BLOCK_LEN>();
        let mut last = [0.0; BLOCK_LEN];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        let mut packed = Vec::with_capacity(blocks.len() + 1);
        vectorized!(for block in blocks.iter().chain(last) {
            packed.push(F::pack_input(block));
        });
        packed
    }
}
