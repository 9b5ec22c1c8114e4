use super::RanksError;
use super::worker::{Traffic, WAITING, add};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Instant;

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
pub struct Pending<Value>(State<Value>);

enum State<Value> {
    Ready(Result<Value, RanksError>),
    Started {
        result: Receiver<Result<Value, RanksError>>,
        traffic: Arc<Traffic>,
        /// The error if the engine ends before the operation does.
        ended: RanksError,
    },
}

impl<Value> Pending<Value> {
    pub(super) fn ready(result: Result<Value, RanksError>) -> Self {
        Self(State::Ready(result))
    }

    pub(super) fn started(
        result: Receiver<Result<Value, RanksError>>,
        traffic: Arc<Traffic>,
        ended: RanksError,
    ) -> Self {
        Self(State::Started { result, traffic, ended })
    }

    /// Waits for the operation, and returns its result.
    ///
    /// # Errors
    /// The error of the operation.
    pub fn wait(self) -> Result<Value, RanksError> {
        match self.0 {
            State::Ready(result) => result,
            State::Started { result, traffic, ended } => {
                let start = Instant::now();
                WAITING.fetch_add(1, Ordering::Relaxed);
                let result = result.recv();
                WAITING.fetch_sub(1, Ordering::Relaxed);
                add(&traffic.waited_nanoseconds, start);
                result.unwrap_or(Err(ended))
            }
        }
    }
}
