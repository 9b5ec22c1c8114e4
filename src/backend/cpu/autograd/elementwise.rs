//! Loops over all elements, in vectors and on all threads.

use super::{Buffer, Partition};
use crate::simd::add_assign;

/// The cost of an element that is read and written, in multiply-adds.
const MACS_PER_ELEMENT: usize = 16;

/// Elements in chunks for all threads. `macs_per_element` is the cost of computing one.
pub fn partition_elements(len: usize, macs_per_element: usize) -> Partition {
    partition_rows(len, 1, macs_per_element)
}

/// Like [`partition_elements`], with whole rows in a chunk.
pub fn partition_rows(rows: usize, row_len: usize, macs_per_element: usize) -> Partition {
    Partition::new(rows, (MACS_PER_ELEMENT + macs_per_element) * row_len, usize::MAX)
}

/// `to += from`.
pub fn add_in_parallel(to: &mut [f32], from: &[f32]) {
    let partition = partition_elements(to.len(), 0);
    partition.map_mut(to, 1, |elements, to| add_assign(to, elements.slice(from, 1)));
}

/// A copy of some elements.
pub fn copied(elements: &[f32]) -> Buffer {
    let mut copy = Buffer::recycled(elements.len());
    let partition = partition_elements(elements.len(), 0);
    partition.map_mut(&mut copy, 1, |chunk, copy| copy.copy_from_slice(chunk.slice(elements, 1)));
    copy
}
