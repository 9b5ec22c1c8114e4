use super::RanksError;

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
pub struct Pending<Value>(pub(super) Box<dyn FnOnce() -> Result<Value, RanksError> + Send>);

impl<Value> Pending<Value> {
    /// Waits for the operation, and returns its result.
    ///
    /// # Errors
    /// The error of the operation.
    pub fn wait(self) -> Result<Value, RanksError> {
        self.0()
    }
}
