//! The interface of a transport, and how operations run on it: at once or while the caller computes, in several rounds
//! if they are too long for one message. Transports move bytes; the ranks make the sums, in the order of the ranks.

use super::{Element, RanksError, collectives::sum_in_order};
use bytemuck::{cast_slice, cast_slice_mut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::{ops::Range, thread::JoinHandle, time::Instant};

/// A collective operation in progress (`MPI_Request`, `torch.distributed.Work`). The caller may compute until it calls
/// [`wait`](Self::wait).
///
/// ```
/// use typed_transformer::{ranks, ranks::Ranks};
/// ranks! { pub World; }
/// let sums = Ranks::<World>::in_threads(2, |ranks| {
///     let pending = ranks.start_all_reduce(vec![1.0_f32, ranks.rank() as f32]);
///     // Computes something else here.
///     pending.wait()
/// });
/// assert_eq!(sums, [Ok(vec![2.0, 1.0]), Ok(vec![2.0, 1.0])]);
/// ```
#[must_use = "call `wait`: otherwise the error of the operation is lost"]
pub struct Pending<Value>(Box<dyn FnOnce() -> Result<Value, RanksError> + Send>);

impl<Value> Pending<Value> {
    /// Waits for the operation, and returns its result.
    ///
    /// # Errors
    /// The error of the operation.
    pub fn wait(self) -> Result<Value, RanksError> {
        self.0()
    }
}

/// The error of a transport, in its own words.
pub type TransportResult<Value = ()> = Result<Value, String>;

/// A group of ranks that can send bytes to each other. All ranks of a group call the same methods in the same order.
///
/// The layers of a model that ranks divide hold a communicator, and a model may cross `catch_unwind`.
pub trait Communicator: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// This process's rank in the group, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks in the group.
    fn size(&self) -> usize;

    /// Sends block `r` of `send` to rank `r`, and receives this rank's block from each rank. Blocks are consecutive;
    /// block `r` has `lens[r]` bytes on every rank.
    fn all_to_all(&self, send: &[u8], lens: &[usize], receive: &mut [u8]) -> TransportResult;

    /// Sends `part` to all ranks, and receives block `r` of `whole` from rank `r`. The lengths count bytes.
    fn all_gather(&self, part: &[u8], whole: &mut [u8], lens: &[usize]) -> TransportResult;

    /// Sends `data` of rank `root` to all ranks.
    fn broadcast(&self, data: &mut [u8], root: usize) -> TransportResult;

    /// Divides the group: ranks that give the same `group` are together, in the order of their ranks here.
    fn split(&self, group: usize) -> TransportResult<Arc<dyn Communicator>>;
}

/// A collective operation, with everything it needs.
pub type Job = Box<dyn FnOnce() + Send>;

/// Runs the collective operations of a process, in the order in which it starts them.
#[derive(Default)]
pub struct Worker {
    /// The queue of the transport's thread; `None` if the operations run at once.
    queue: Option<Mutex<Queue>>,
    pub traffic: Arc<Traffic>,
    /// Whether all ranks have agreed to end, so that this one may wait for the others without a limit.
    ends_together: Arc<AtomicBool>,
}

struct Queue {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
}

/// The bytes that the operations of a process have moved, and the time they took.
#[derive(Default)]
pub struct Traffic {
    /// Bytes sent to other ranks.
    pub sent_bytes: AtomicU64,
    /// Time in which operations ran.
    pub running_nanoseconds: AtomicU64,
    /// The part of it in which the caller waited for them.
    pub waited_nanoseconds: AtomicU64,
}

/// The number of callers that wait for an operation. While it is 0, the transport's thread sleeps between polls.
pub static WAITING: AtomicUsize = AtomicUsize::new(0);

impl Worker {
    /// Runs operations on `thread`, which takes them from the other end of `jobs`.
    #[cfg(feature = "mpi")]
    pub fn on_thread(jobs: Sender<Job>, thread: JoinHandle<()>, ends_together: Arc<AtomicBool>) -> Self {
        Self { queue: Some(Mutex::new(Queue { jobs, thread })), traffic: Arc::default(), ends_together }
    }

    /// Starts an operation, which returns its value and the number of bytes that this rank sends. `describe` adds rank,
    /// axis and operation to the transport's message. Both are trait objects, so this is compiled once for each
    /// `Value`.
    pub fn start<Value: Send + 'static>(
        &self,
        communicator: &Arc<dyn Communicator>,
        describe: Box<dyn Fn(String) -> RanksError + Send>,
        operation: Box<dyn FnOnce(&dyn Communicator) -> TransportResult<(Value, usize)> + Send>,
    ) -> Pending<Value> {
        let (communicator, traffic) = (communicator.clone(), self.traffic.clone());
        let ended = describe("the transport has ended".into());
        let run = move || {
            let start = Instant::now();
            let result = operation(&*communicator).map_err(describe);
            add(&traffic.running_nanoseconds, start);
            let (value, sent) = result?;
            traffic.sent_bytes.fetch_add(sent as u64, Ordering::Relaxed);
            Ok(value)
        };
        let Some(queue) = &self.queue else {
            let result = run();
            return Pending(Box::new(|| result));
        };
        let (sender, receiver) = mpsc::channel();
        // The caller may have given up the result.
        let job: Job = Box::new(move || drop(sender.send(run())));
        let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.jobs.send(job).is_err() {
            return Pending(Box::new(|| Err(ended)));
        }
        let traffic = self.traffic.clone();
        Pending(Box::new(move || {
            let start = Instant::now();
            WAITING.fetch_add(1, Ordering::Relaxed);
            let result = receiver.recv();
            WAITING.fetch_sub(1, Ordering::Relaxed);
            add(&traffic.waited_nanoseconds, start);
            // An operation has no result if the transport ends before it.
            result.unwrap_or(Err(ended))
        }))
    }

    pub fn set_ends_together(&self, ends_together: bool) {
        self.ends_together.store(ends_together, Ordering::Relaxed);
    }
}

/// Adds the time since `start`.
fn add(nanoseconds: &AtomicU64, start: Instant) {
    nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
}

impl Drop for Worker {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        let Queue { jobs, thread } = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The thread ends once no one can send it operations.
        drop(jobs);
        // It reports its own failures.
        let _ = thread.join();
    }
}

/// The most bytes of one message. MPI counts to 2 GiB.
pub const MAX_MESSAGE_LEN_BYTES: usize = 1 << 28;

/// The parts of all ranks, of which each has `lens[rank]` elements.
pub fn all_gather_in_rounds<E: Element>(
    communicator: &dyn Communicator,
    part: &[E],
    whole: &mut [E],
    lens: &[usize],
    max_len_bytes: usize,
) -> TransportResult {
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

/// Sums this rank's part of `values` over the ranks, in their order.
pub fn reduce_scatter_in_rounds<E: Element>(
    communicator: &dyn Communicator,
    values: &[E],
    lens: &[usize],
    max_len_bytes: usize,
) -> TransportResult<Vec<E>> {
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
        communicator.all_to_all(cast_slice(&send), &lens_bytes::<E>(&ranges), cast_slice_mut(&mut terms))?;
        sums.extend(sum_in_order(&terms, own_len));
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
    use super::super::threads::ThreadRank;
    use super::*;
    use std::thread;

    /// Messages of one element, of two or three from each rank, and of all.
    #[test]
    fn rounds_move_what_one_message_moves() {
        let lens = [5, 0, 2];
        let values = |rank: usize| -> Vec<f32> { (0..7).map(|i| (10 * rank + i) as f32).collect() };
        for max_len_bytes in [1, 24, 36, 1 << 20] {
            thread::scope(|scope| {
                for member in ThreadRank::group(3) {
                    scope.spawn(move || {
                        let part =
                            reduce_scatter_in_rounds(&member, &values(member.rank()), &lens, max_len_bytes).unwrap();
                        let mut whole = vec![0.0; 7];
                        all_gather_in_rounds(&member, &part, &mut whole, &lens, max_len_bytes).unwrap();
                        assert_eq!(whole, (0..7).map(|i| (30 + 3 * i) as f32).collect::<Vec<_>>());
                    });
                }
            });
        }
    }
}
