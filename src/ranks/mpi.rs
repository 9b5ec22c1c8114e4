//! The transport on MPI: a thread of its own makes all calls, so that messages move while the caller computes.

use super::RanksError;
use super::transport::{Communicator, Job, TransportResult, WAITING, Worker};
use ferrompi::{Mpi, Request, Result as MpiResult, Scope, ThreadLevel};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};
use std::{io::Write, mem::ManuallyDrop, sync::Arc, thread};

/// An operation that takes longer is given up: a rank hangs, or is out of reach.
const TIMEOUT: Duration = Duration::from_secs(1800);
/// The time that a rank that leaves without agreement waits for the others before it ends them.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time between two polls of an operation that takes long, or for which no caller waits.
const POLL_INTERVAL: Duration = Duration::from_micros(50);
/// The time for which the thread polls without a pause while a caller waits. Most operations are complete by then. A
/// longer one, for example with a slower rank, leaves the processor to other threads.
const SPIN_TIME: Duration = Duration::from_micros(200);

/// Starts MPI on a thread of its own.
pub fn start() -> Result<(Arc<dyn Communicator>, Worker), RanksError> {
    let failed = |message: String| RanksError::Start { message };
    let (jobs, queue) = mpsc::channel();
    let (sender, world) = mpsc::channel();
    let ends_together = Arc::new(AtomicBool::new(false));
    let run = {
        let ends_together = ends_together.clone();
        move || run(&queue, &sender, &ends_together)
    };
    let thread = thread::Builder::new().name("ranks".into()).spawn(run).map_err(|error| failed(error.to_string()))?;
    match world.recv() {
        Ok(Ok(world)) => Ok((Arc::new(world), Worker::on_thread(jobs, thread, ends_together))),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(failed("the thread of MPI has ended".into())),
    }
}

/// The thread: starts MPI, runs the operations in their order, and ends MPI together with the other ranks.
fn run(jobs: &Receiver<Job>, world: &Sender<Result<Group, RanksError>>, ends_together: &AtomicBool) {
    let failed = |message: String| RanksError::Start { message };
    let start = || -> Result<(Mpi, Group), RanksError> {
        let mpi = Mpi::init_thread(ThreadLevel::Funneled).map_err(|error| match error {
            ferrompi::Error::AlreadyInitialized | ferrompi::Error::Finalized => RanksError::StartedBefore,
            error => failed(error.to_string()),
        })?;
        if mpi.thread_level() < ThreadLevel::Funneled {
            return Err(failed("this MPI does not support threads (MPI_THREAD_FUNNELED)".into()));
        }
        let exit_group = mpi.world().duplicate().map_err(|error| failed(error.to_string()))?;
        Ok((mpi, Group(ManuallyDrop::new(exit_group))))
    };
    let (mpi, exit_group) = match start() {
        Ok(started) => started,
        Err(error) => return drop(world.send(Err(error))),
    };
    // If the receiver is gone, the queue of jobs is closed too, and the loop ends.
    let _ = world.send(Ok(Group(ManuallyDrop::new(mpi.world()))));
    for job in jobs {
        // Unwinding would end MPI, which waits for the other ranks.
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            exit_group.give_up("panicked in a collective operation");
        }
    }
    let limit = if ends_together.load(Ordering::Relaxed) { Duration::MAX } else { LEAVE_TIMEOUT };
    let left = ferrompi::scope(|scope| {
        wait(exit_group.0.ibarrier(scope)?, limit, || exit_group.give_up("left before the others"))
    });
    if let Err(error) = left {
        exit_group.give_up(&error.to_string());
    }
    drop(mpi);
}

/// A group of MPI processes. The communicator is never freed: only MPI's thread may call MPI, and MPI ends with it.
struct Group(ManuallyDrop<ferrompi::Communicator>);

impl Group {
    /// Writes why this rank cannot go on, and ends all ranks.
    fn give_up(&self, why: &str) -> ! {
        let (rank, size) = (self.0.rank(), self.0.size());
        // Standard error may be closed.
        let _ = writeln!(std::io::stderr(), "rank {rank} of {size} ends all ranks: it {why}");
        self.0.abort(1)
    }

    /// Starts an operation and waits until it is complete.
    fn complete<'env>(
        &self,
        start: impl for<'s> FnOnce(&'s Scope<'s, 'env>) -> MpiResult<Request<'s>>,
    ) -> TransportResult {
        let give_up = || self.give_up(&format!("waited {} s for another rank", TIMEOUT.as_secs()));
        ferrompi::scope(|scope| wait(start(scope)?, TIMEOUT, give_up)).map_err(|error| error.to_string())
    }
}

/// Waits until a request is complete, for at most `limit`.
fn wait(mut request: Request<'_>, limit: Duration, give_up: impl FnOnce()) -> MpiResult<()> {
    let start = Instant::now();
    while request.test()?.is_none() {
        let waited = start.elapsed();
        if waited > limit {
            give_up();
            break;
        }
        match WAITING.load(Ordering::Relaxed) > 0 && waited < SPIN_TIME {
            true => thread::yield_now(),
            false => thread::sleep(POLL_INTERVAL),
        }
    }
    Ok(())
}

impl Communicator for Group {
    fn rank(&self) -> usize {
        self.0.rank() as usize
    }

    fn size(&self) -> usize {
        self.0.size() as usize
    }

    fn all_to_all(&self, send: &[u8], lens: &[usize], receive: &mut [u8]) -> TransportResult {
        let (send_counts, send_starts) = counts_and_starts(lens)?;
        let (receive_counts, receive_starts) = counts_and_starts(&vec![lens[self.rank()]; lens.len()])?;
        self.complete(|scope| {
            self.0.ialltoallv(scope, send, &send_counts, &send_starts, receive, &receive_counts, &receive_starts)
        })
    }

    fn all_gather(&self, part: &[u8], whole: &mut [u8], lens: &[usize]) -> TransportResult {
        let (counts, starts) = counts_and_starts(lens)?;
        self.complete(|scope| self.0.iallgatherv(scope, part, whole, &counts, &starts))
    }

    fn broadcast(&self, data: &mut [u8], root: usize) -> TransportResult {
        self.complete(|scope| self.0.ibroadcast(scope, data, root as i32))
    }

    fn split(&self, group: usize) -> TransportResult<Arc<dyn Communicator>> {
        let split = self.0.split(Some(group as i32), self.0.rank()).map_err(|error| error.to_string())?;
        let split = split.ok_or("this rank is in no group")?;
        Ok(Arc::new(Group(ManuallyDrop::new(split))))
    }
}

/// The number of bytes of each block and where it starts, as MPI counts.
fn counts_and_starts(lens: &[usize]) -> TransportResult<(Vec<i32>, Vec<i32>)> {
    let count = |&len: &usize| i32::try_from(len);
    let start = |start: &mut usize, &len: &usize| {
        let before = *start;
        *start += len;
        Some(i32::try_from(before))
    };
    let counts = lens.iter().map(count).collect::<Result<Vec<_>, _>>();
    let starts = lens.iter().scan(0, start).collect::<Result<Vec<_>, _>>();
    counts.ok().zip(starts.ok()).ok_or_else(|| "a message is longer than 2 GiB".into())
}
