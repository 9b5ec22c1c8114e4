//! The division of work among threads, and loops over all elements.

use super::{Buffer, num_threads, parallel_map};
use crate::simd::{add_assign, row_chunks_mut};
use std::{mem, ops::Range};

/// The multiply-adds that take as long as reading one number from memory.
pub const MACS_PER_READ: usize = 8;

/// The number of multiply-adds below which a second thread costs more than it saves.
const MIN_MACS_TO_SPLIT: usize = 1 << 20;

/// How a kernel's rows or sequences, its units, are divided among threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SplitBy {
    /// Each thread computes whole units with all weights.
    WholeUnits,
    /// Each thread computes a part of every unit: some output features, or some heads. This is better for few units: no
    /// thread needs a copy of all weight gradients.
    PartsOfUnits,
}

impl SplitBy {
    /// [`WholeUnits`](Self::WholeUnits) if each thread gets at least one unit and 256 rows, and the threads' copies of
    /// the `gradient_len` elements of weight gradients take at most 1 GiB. `rows` counts the rows that share a weight; a
    /// kernel without weights passes `usize::MAX`.
    pub fn choose(units: usize, rows: usize, gradient_len: usize) -> Self {
        /// With fewer rows, a copy of the weight gradients for each thread costs more than the products.
        const MIN_ROWS_PER_THREAD: usize = 256;
        /// The most elements of all copies but the first, which becomes the gradient.
        const MAX_COPIED: usize = 1 << 28;
        let threads = num_threads();
        let copies_pay = rows >= threads * MIN_ROWS_PER_THREAD && (threads - 1) * gradient_len <= MAX_COPIED;
        if units >= threads && copies_pay { Self::WholeUnits } else { Self::PartsOfUnits }
    }
}

/// Divides units (rows, columns, elements, heads or sequences) into chunks of at most a given length, and assigns
/// chunks to threads. The partition depends only on the work and the number of threads, so results are reproducible.
#[derive(Clone, Copy)]
pub struct Partition {
    units: usize,
    chunk_len: usize,
    chunks_per_thread: usize,
}

/// The units of one chunk.
#[derive(Clone, Copy)]
pub struct Chunk {
    start: usize,
    end: usize,
}

impl Chunk {
    pub fn start(self) -> usize {
        self.start
    }

    pub fn len(self) -> usize {
        self.end - self.start
    }

    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The part of a buffer that belongs to these units, each of which has `unit_len` elements.
    pub fn slice<T>(self, buffer: &[T], unit_len: usize) -> &[T] {
        &buffer[self.start * unit_len..self.end * unit_len]
    }
}

impl Partition {
    /// Partitions `units` of `macs_per_unit` multiply-adds each, with at most `max_chunk_len` in a chunk.
    pub fn new(units: usize, macs_per_unit: usize, max_chunk_len: usize) -> Self {
        Self::of_groups(units, 1, macs_per_unit, max_chunk_len)
    }

    /// Like [`new`](Self::new), but every chunk except the last holds whole groups of `group_len` units.
    pub fn of_groups(units: usize, group_len: usize, macs_per_unit: usize, max_chunk_len: usize) -> Self {
        let groups = units.div_ceil(group_len);
        let threads = match groups * group_len * macs_per_unit < MIN_MACS_TO_SPLIT {
            true => 1,
            false => num_threads(),
        };
        let groups_per_thread = groups.div_ceil(threads).max(1);
        let chunks_per_thread = groups_per_thread.div_ceil((max_chunk_len / group_len).max(1));
        Self { units, chunk_len: groups_per_thread.div_ceil(chunks_per_thread) * group_len, chunks_per_thread }
    }

    /// All units in one chunk.
    pub fn whole(units: usize) -> Self {
        Self { units, chunk_len: units.max(1), chunks_per_thread: 1 }
    }

    /// The units of each chunk.
    pub fn chunks(self) -> impl Iterator<Item = Chunk> {
        (0..self.units)
            .step_by(self.chunk_len)
            .map(move |start| Chunk { start, end: self.units.min(start + self.chunk_len) })
    }

    /// The part of a buffer that belongs to each chunk; every unit has `unit_len` elements.
    pub fn split_mut<T>(self, mut buffer: &mut [T], unit_len: usize) -> impl Iterator<Item = &mut [T]> {
        self.chunks().map(move |units| {
            let (chunk, rest) = mem::take(&mut buffer).split_at_mut(units.len() * unit_len);
            buffer = rest;
            chunk
        })
    }

    /// The part of each row that belongs to each chunk. A row has `unit_len` columns for each unit.
    pub fn split_columns_mut(self, rows: &mut [f32], unit_len: usize) -> impl Iterator<Item = Vec<&mut [f32]>> {
        let mut parts: Vec<Vec<&mut [f32]>> = self.chunks().map(|_| Vec::new()).collect();
        for row in row_chunks_mut(rows, self.units * unit_len) {
            for (part, columns) in parts.iter_mut().zip(self.split_mut(row, unit_len)) {
                part.push(columns);
            }
        }
        parts.into_iter()
    }

    /// Calls `run` once on each thread with the thread's chunks. Returns the results in the order of the chunks.
    pub fn map_threads<Part: Send, Value: Send>(
        self,
        chunks: impl Iterator<Item = Part>,
        run: impl Fn(Vec<Part>) -> Value + Sync,
    ) -> Vec<Value> {
        parallel_map(self.assign_to_threads(chunks), run)
    }

    fn assign_to_threads<Part>(self, chunks: impl Iterator<Item = Part>) -> Vec<Vec<Part>> {
        let mut chunks: Vec<_> = chunks.collect();
        let mut parts = Vec::new();
        while chunks.len() > self.chunks_per_thread {
            let rest = chunks.split_off(self.chunks_per_thread);
            parts.push(mem::replace(&mut chunks, rest));
        }
        parts.push(chunks);
        parts
    }

    /// Calls `run` on every chunk. Returns the results in the order of the chunks.
    pub fn map_chunks<Part: Send, Value: Send>(
        self,
        chunks: impl Iterator<Item = Part>,
        run: impl Fn(Part) -> Value + Sync,
    ) -> Vec<Value> {
        let values = self.map_threads(chunks, |chunks| chunks.into_iter().map(&run).collect::<Vec<_>>());
        values.into_iter().flatten().collect()
    }

    /// [`map_chunks`](Self::map_chunks) with the part of a buffer that [`split_mut`](Self::split_mut) gives each chunk.
    pub fn map_mut<T: Send, Value: Send>(
        self,
        buffer: &mut [T],
        unit_len: usize,
        run: impl Fn(Chunk, &mut [T]) -> Value + Sync,
    ) -> Vec<Value> {
        self.map_chunks(self.chunks().zip(self.split_mut(buffer, unit_len)), |(units, part)| run(units, part))
    }
}

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

/// The `len` elements of an operand that repeats itself, in chunks for threads that add to its gradient. Each thread has
/// `storage_len` sums of its own, and at least as many elements, or its sums would cost more than they save.
pub fn partition_repeated(storage_len: usize, len: usize) -> Partition {
    let partition = partition_elements(len, 0);
    Partition { chunk_len: partition.chunk_len.max(storage_len), ..partition }
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

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;

    #[test]
    fn every_unit_is_in_one_chunk_and_threads_get_equal_parts() {
        for (units, group, macs, max) in
            [(1, 1, 1, 1), (750, 1, 10, 64), (768, 1, 1 << 20, 256), (13, 1, 1 << 20, 4), (50, 16, 1 << 16, 16)]
        {
            let partition = Partition::of_groups(units, group, macs, max);
            assert!((1..=max).contains(&partition.chunk_len));
            assert_eq!(partition.chunk_len % group, 0);
            let numbers: Vec<usize> = (0..units).collect();
            let read = |chunks: Vec<Chunk>| -> Vec<usize> {
                chunks.into_iter().flat_map(|units| units.slice(&numbers, 1)).copied().collect()
            };
            let parts = partition.map_threads(partition.chunks(), read);
            assert_eq!(parts.concat(), numbers);
            let longest = parts.iter().map(Vec::len).max().unwrap();
            assert!(longest <= units.div_ceil(parts.len()) + partition.chunk_len);
            let mut written = vec![0; units * 2];
            partition.map_mut(&mut written, 2, |units, chunk| {
                assert_eq!(chunk.len(), 2 * units.len());
                chunk.fill(1);
            });
            assert!(written.iter().all(|x| *x == 1));
        }
    }

    #[test]
    fn copies_of_a_gradient_are_bounded() {
        ThreadPoolBuilder::new().num_threads(64).build().unwrap().install(|| {
            assert!(SplitBy::choose(64, 64 * 256, 768 * 768) == SplitBy::WholeUnits);
            assert!(SplitBy::choose(64, 64 * 256, 768 * 50_257) == SplitBy::PartsOfUnits);
        });
    }

    #[test]
    fn each_thread_has_all_elements_that_repeat_themselves() {
        ThreadPoolBuilder::new().num_threads(8).build().unwrap().install(|| {
            for (storage_len, num_chunks) in [(1 << 10, 8), (1 << 20, 2), (1 << 21, 1), (1 << 22, 1)] {
                assert_eq!(partition_repeated(storage_len, 1 << 21).chunks().count(), num_chunks);
            }
        });
    }
}
