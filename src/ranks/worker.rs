//! Collective operations run at once, or on a thread of their own while the caller computes.

use super::RanksError;
use super::communicator::{Communicator, EngineResult};
use super::pending::Pending;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::{thread::JoinHandle, time::Instant};

/// A collective operation, with everything it needs.
pub type Job = Box<dyn FnOnce() + Send>;

/// Runs the collective operations of a process, in the order in which it starts them.
#[derive(Default)]
pub struct Worker {
    /// The queue of the engine's thread; `None` if the operations run at once.
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

/// The number of callers that wait for an operation. While it is 0, the engine's thread sleeps between polls.
pub static WAITING: AtomicUsize = AtomicUsize::new(0);

impl Worker {
    /// Runs operations on `thread`, which takes them from the other end of `jobs`.
    #[cfg(feature = "mpi")]
    pub fn on_thread(jobs: Sender<Job>, thread: JoinHandle<()>, ends_together: Arc<AtomicBool>) -> Self {
        Self { queue: Some(Mutex::new(Queue { jobs, thread })), traffic: Arc::default(), ends_together }
    }

    /// Starts an operation, which gives its value and the bytes that this rank sends. `describe` adds rank, axis and
    /// operation to the engine's message.
    pub fn start<Value: Send + 'static>(
        &self,
        communicator: &Arc<dyn Communicator>,
        describe: impl Fn(String) -> RanksError + Send + 'static,
        operation: impl FnOnce(&dyn Communicator) -> EngineResult<(Value, usize)> + Send + 'static,
    ) -> Pending<Value> {
        let (communicator, traffic) = (communicator.clone(), self.traffic.clone());
        let ended = describe("the engine has ended".into());
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
            // An operation has no result if the engine ends before it.
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
