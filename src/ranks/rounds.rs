//! Parts that are too long for one message move in several rounds.

use super::Element;
use super::communicator::{Communicator, EngineResult};
use bytemuck::{cast_slice, cast_slice_mut};
use std::ops::Range;

/// The most bytes of one message. MPI counts to 2 GiB.
pub const MAX_MESSAGE_LEN_BYTES: usize = 1 << 28;

/// The parts of all ranks, of which each has `lens[rank]` elements.
pub fn all_gather<E: Element>(
    communicator: &dyn Communicator,
    part: &[E],
    whole: &mut [E],
    lens: &[usize],
    max_len_bytes: usize,
) -> EngineResult {
    for ranges in rounds::<E>(lens, max_len_bytes) {
        let send = &part[ranges[communicator.rank()].clone()];
        let mut received = vec![E::zero(); ranges.iter().map(Range::len).sum()];
        communicator.all_gather(cast_slice(send), cast_slice_mut(&mut received), &lens_bytes::<E>(&ranges))?;
        let (mut received, mut start) = (&received[..], 0);
        for (range, len) in ranges.into_iter().zip(lens) {
            let (block, rest) = received.split_at(range.len());
            whole[start..][range].copy_from_slice(block);
            (received, start) = (rest, start + len);
        }
    }
    Ok(())
}

/// Sums this rank's part of `values` over the ranks. `sum(terms, len)` gets the terms of a round, `len` from each rank,
/// one rank after another, and returns their `len` sums.
pub fn reduce_scatter<E: Element>(
    communicator: &dyn Communicator,
    values: &[E],
    lens: &[usize],
    max_len_bytes: usize,
    sum: impl Fn(&[E], usize) -> Vec<E>,
) -> EngineResult<Vec<E>> {
    let (rank, size) = (communicator.rank(), communicator.size());
    let mut sums = Vec::with_capacity(lens[rank]);
    for ranges in rounds::<E>(lens, max_len_bytes) {
        let mut send = Vec::with_capacity(ranges.iter().map(Range::len).sum());
        let mut start = 0;
        for (range, len) in ranges.iter().zip(lens) {
            send.extend_from_slice(&values[start..][range.clone()]);
            start += len;
        }
        let own_len = ranges[rank].len();
        let mut terms = vec![E::zero(); size * own_len];
        let receive_lens = vec![own_len * size_of::<E>(); size];
        let send_lens = lens_bytes::<E>(&ranges);
        communicator.all_to_all(cast_slice(&send), &send_lens, cast_slice_mut(&mut terms), &receive_lens)?;
        sums.extend(sum(&terms, own_len));
    }
    Ok(sums)
}

/// The range of each part that moves in each round.
fn rounds<E>(lens: &[usize], max_len_bytes: usize) -> impl Iterator<Item = Vec<Range<usize>>> {
    let longest = lens.iter().copied().max().unwrap_or(0);
    let round_len = (max_len_bytes / size_of::<E>() / lens.len().max(1)).max(1);
    let range = move |start: usize, len: usize| start.min(len)..(start + round_len).min(len);
    (0..longest).step_by(round_len).map(move |start| lens.iter().map(|&len| range(start, len)).collect())
}

fn lens_bytes<E>(ranges: &[Range<usize>]) -> Vec<usize> {
    ranges.iter().map(|range| range.len() * size_of::<E>()).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::threads::Thread, *};
    use std::thread;

    /// Messages of one element, of two or three from each rank, and of all.
    #[test]
    fn rounds_move_what_one_message_moves() {
        let lens = [5, 0, 2];
        let values = |rank: usize| -> Vec<f32> { (0..7).map(|i| (10 * rank + i) as f32).collect() };
        let sum = |terms: &[f32], len: usize| -> Vec<f32> {
            (0..len).map(|i| terms.iter().skip(i).step_by(len).sum()).collect()
        };
        for max_len_bytes in [1, 24, 36, 1 << 20] {
            thread::scope(|scope| {
                for member in Thread::group(3) {
                    scope.spawn(move || {
                        let part = reduce_scatter(&member, &values(member.rank()), &lens, max_len_bytes, sum).unwrap();
                        let mut whole = vec![0.0; 7];
                        all_gather(&member, &part, &mut whole, &lens, max_len_bytes).unwrap();
                        assert_eq!(whole, (0..7).map(|i| (30 + 3 * i) as f32).collect::<Vec<_>>());
                    });
                }
            });
        }
    }
}
