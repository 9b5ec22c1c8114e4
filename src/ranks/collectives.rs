//! The collective operations on slices.

use super::group::part_of;
use super::transport::{
    Communicator, MAX_MESSAGE_LEN_BYTES, TransportResult, all_gather_in_rounds, reduce_scatter_in_rounds,
};
use super::{Element, Pending, RankAxis, Ranks, RanksError};
use bytemuck::{cast_slice, cast_slice_mut};

/// Up to this many bytes, each rank gets all terms of a sum: one message is then faster than two.
const SMALL_SUM_LEN_BYTES: usize = 4096;

impl<Axis: RankAxis> Ranks<Axis> {
    /// Sums `values` over the ranks, element by element, in the order of the ranks. Every rank gets the same bits.
    ///
    /// Long slices take a reduce-scatter, then an all-gather: each of `N` ranks sends `2 (N - 1) / N` of the elements,
    /// the minimum. Up to 4 KiB, each rank sends all values to all others, because one message is faster than two.
    ///
    /// # Errors
    /// [`RanksError::Transport`]. All ranks must give equally many values; with MPI this is not checked.
    ///
    /// ```
    /// use typed_transformer::{ranks, ranks::{Ranks, RanksError}};
    /// ranks! { pub World; }
    /// let results = Ranks::<World>::in_threads(2, |ranks| -> Result<_, RanksError> {
    ///     let mut sums = [1.0_f32, ranks.rank() as f32];
    ///     ranks.all_reduce(&mut sums)?;
    ///     let part = ranks.reduce_scatter(&[1.0_f32, 2.0, 3.0], &[2, 1])?;
    ///     let whole = ranks.all_gather(&part, &[2, 1])?;
    ///     let mut last = [ranks.rank() as f64];
    ///     ranks.broadcast(&mut last, 1)?;
    ///     ranks.barrier()?;
    ///     Ok((sums, part, whole, last))
    /// });
    /// assert_eq!(results[0], Ok(([2.0, 1.0], vec![2.0, 4.0], vec![2.0, 4.0, 6.0], [1.0])));
    /// assert_eq!(results[1], Ok(([2.0, 1.0], vec![6.0], vec![2.0, 4.0, 6.0], [1.0])));
    /// ```
    pub fn all_reduce<E: Element>(&self, values: &mut [E]) -> Result<(), RanksError> {
        let sums = self.start_all_reduce(values.to_vec()).wait()?;
        values.copy_from_slice(&sums);
        Ok(())
    }

    /// [`all_reduce`](Self::all_reduce) that returns at once, while the operation goes on.
    pub fn start_all_reduce<E: Element>(&self, mut values: Vec<E>) -> Pending<Vec<E>> {
        self.start_operation("all-reduce", move |communicator| {
            if communicator.size() == 1 {
                return Ok((values, 0));
            }
            let sent = if size_of_val(&*values) <= SMALL_SUM_LEN_BYTES {
                sum_all(communicator, &mut values)?
            } else {
                let chunks = values.chunks_mut(MAX_MESSAGE_LEN_BYTES / size_of::<E>());
                chunks.map(|chunk| sum_by_parts(communicator, chunk)).sum::<TransportResult<usize>>()?
            };
            Ok((values, sent))
        })
    }

    /// Sums `values` over the ranks, and returns this rank's part of the sums: part `r` has `lens[r]` elements.
    ///
    /// # Errors
    /// [`RanksError::Len`] if the parts are not as long as `values` together; [`RanksError::Transport`].
    pub fn reduce_scatter<E: Element>(&self, values: &[E], lens: &[usize]) -> Result<Vec<E>, RanksError> {
        self.ensure_lens("reduce-scatter", lens, values.len())?;
        let (values, lens) = (values.to_vec(), lens.to_vec());
        let operation = move |communicator: &dyn Communicator| {
            let part = reduce_scatter_in_rounds(communicator, &values, &lens, MAX_MESSAGE_LEN_BYTES)?;
            let sent = size_of_val(&*values) - size_of_val(&*part);
            Ok((part, sent))
        };
        self.start_operation("reduce-scatter", operation).wait()
    }

    /// The parts of all ranks, in their order: part `r` has `lens[r]` elements.
    ///
    /// # Errors
    /// [`RanksError::Len`] if this rank's part has another length; [`RanksError::Transport`].
    pub fn all_gather<E: Element>(&self, part: &[E], lens: &[usize]) -> Result<Vec<E>, RanksError> {
        self.ensure_lens("all-gather", lens, lens.iter().sum())?;
        self.ensure_len("all-gather", lens[self.rank()], part.len())?;
        let (part, lens) = (part.to_vec(), lens.to_vec());
        let operation = move |communicator: &dyn Communicator| {
            let mut whole = vec![E::zero(); lens.iter().sum()];
            let sent = gather(communicator, &part, &mut whole, &lens)?;
            Ok((whole, sent))
        };
        self.start_operation("all-gather", operation).wait()
    }

    /// Overwrites `values` with those of rank `root`.
    ///
    /// # Errors
    /// [`RanksError::Transport`], also if there is no rank `root`.
    pub fn broadcast<E: Element>(&self, values: &mut [E], root: usize) -> Result<(), RanksError> {
        self.broadcast_bytes(cast_slice_mut(values), root)
    }

    pub(crate) fn broadcast_bytes(&self, bytes: &mut [u8], root: usize) -> Result<(), RanksError> {
        if root >= self.size() {
            let message = format!("there are {} ranks, and no rank {root}", self.size());
            return Err(RanksError::Transport { rank: self.rank(), axis: Axis::NAME, operation: "broadcast", message });
        }
        if self.size() == 1 {
            return Ok(());
        }
        for chunk in bytes.chunks_mut(MAX_MESSAGE_LEN_BYTES) {
            let mut data = chunk.to_vec();
            let operation = move |communicator: &dyn Communicator| {
                communicator.broadcast(&mut data, root)?;
                let sent = if communicator.rank() == root { data.len() * (communicator.size() - 1) } else { 0 };
                Ok((data, sent))
            };
            chunk.copy_from_slice(&self.start_operation("broadcast", operation).wait()?);
        }
        Ok(())
    }

    /// The bytes of rank 0, however many they are.
    pub(crate) fn broadcast_vec(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, RanksError> {
        let mut len = (bytes.len() as u64).to_ne_bytes();
        self.broadcast_bytes(&mut len, 0)?;
        bytes.resize(u64::from_ne_bytes(len) as usize, 0);
        self.broadcast_bytes(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// The bytes of all ranks, in their order, however many each gives.
    pub(crate) fn all_gather_vec(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        let lens = self.all_gather_bytes((bytes.len() as u64).to_ne_bytes())?;
        let lens = lens.into_iter().map(|len| u64::from_ne_bytes(len) as usize).collect();
        self.all_gather_parts(bytes, lens)
    }

    /// The bytes of all ranks, in their order. Every rank gives `N`.
    pub(crate) fn all_gather_bytes<const N: usize>(&self, bytes: [u8; N]) -> Result<Vec<[u8; N]>, RanksError> {
        let parts = self.all_gather_parts(&bytes, vec![N; self.size()])?;
        Ok(parts.iter().filter_map(|part| part.first_chunk().copied()).collect())
    }

    /// The bytes of all ranks, in their order. Rank `i` gives `lens[i]`.
    fn all_gather_parts(&self, part: &[u8], lens: Vec<usize>) -> Result<Vec<Vec<u8>>, RanksError> {
        let part = part.to_vec();
        let operation = move |communicator: &dyn Communicator| {
            let mut whole = vec![0; lens.iter().sum()];
            communicator.all_gather(&part, &mut whole, &lens)?;
            let mut rest = &whole[..];
            let parts = lens.iter().map(|len| rest.split_off(..*len).unwrap_or_default().to_vec()).collect();
            // Such messages are not counted, as `sent_bytes` says.
            Ok((parts, 0))
        };
        self.start_operation("all-gather", operation).wait()
    }

    /// Waits until all ranks are here.
    ///
    /// # Errors
    /// [`RanksError::Transport`].
    pub fn barrier(&self) -> Result<(), RanksError> {
        self.all_gather_bytes([0]).map(|_| ())
    }

    /// The number of elements of each rank's part of `len` rows of `row_len` elements.
    #[must_use]
    pub fn lens(&self, len: usize, row_len: usize) -> Vec<usize> {
        (0..self.size()).map(|rank| self.part_of(len, rank).len() * row_len).collect()
    }

    fn ensure_lens(&self, operation: &'static str, lens: &[usize], expected: usize) -> Result<(), RanksError> {
        self.ensure_len(operation, self.size(), lens.len())?;
        self.ensure_len(operation, expected, lens.iter().sum())
    }

    pub(super) fn ensure_len(&self, operation: &'static str, expected: usize, found: usize) -> Result<(), RanksError> {
        if expected == found {
            return Ok(());
        }
        Err(RanksError::Len { rank: self.rank(), axis: Axis::NAME, operation, expected, found })
    }
}

/// Sums few values: every rank gets all terms. Returns the number of bytes that this rank sends.
fn sum_all<E: Element>(communicator: &dyn Communicator, values: &mut [E]) -> TransportResult<usize> {
    let size = communicator.size();
    let mut terms = vec![E::zero(); size * values.len()];
    communicator.all_gather(cast_slice(values), cast_slice_mut(&mut terms), &vec![size_of_val(values); size])?;
    values.copy_from_slice(&sum_in_order(&terms, values.len()));
    Ok((size - 1) * size_of_val(values))
}

/// Sums many values: each rank sums its part of them, and all gather the sums. Returns the number of bytes that this
/// rank sends.
fn sum_by_parts<E: Element>(communicator: &dyn Communicator, values: &mut [E]) -> TransportResult<usize> {
    let size = communicator.size();
    let lens: Vec<usize> = (0..size).map(|rank| part_of(values.len(), rank, size).len()).collect();
    let part = reduce_scatter_in_rounds(communicator, values, &lens, MAX_MESSAGE_LEN_BYTES)?;
    let sent = size_of_val(values) - size_of_val(&*part);
    Ok(sent + gather(communicator, &part, values, &lens)?)
}

/// The sums of the terms of all ranks, `len` from each, from rank 0 on.
pub(super) fn sum_in_order<E: Element>(terms: &[E], len: usize) -> Vec<E> {
    let (first, rest) = terms.split_at(len);
    let mut sums = first.to_vec();
    for terms in rest.chunks_exact(len.max(1)) {
        sums.iter_mut().zip(terms).for_each(|(sum, &term)| *sum += term);
    }
    sums
}

/// The parts of all ranks. Returns the number of bytes that this rank sends.
fn gather<E: Element>(
    communicator: &dyn Communicator,
    part: &[E],
    whole: &mut [E],
    lens: &[usize],
) -> TransportResult<usize> {
    all_gather_in_rounds(communicator, part, whole, lens, MAX_MESSAGE_LEN_BYTES)?;
    Ok((communicator.size() - 1) * size_of_val(part))
}
