//! The interface of an engine. Engines move bytes; the ranks themselves make the sums, in the order of the ranks.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// The error of an engine, in its own words.
pub type EngineResult<Value = ()> = Result<Value, String>;

/// A group of ranks that can send bytes to each other. All ranks of a group call the same methods in the same order.
///
/// The layers of a model that ranks divide hold it, and a model may cross `catch_unwind`.
pub trait Communicator: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// This process's rank in the group, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks in the group.
    fn size(&self) -> usize;

    /// Sends block `r` of `send` to rank `r`, and receives block `r` of `receive` from rank `r`. Blocks are
    /// consecutive; the lengths count bytes.
    fn all_to_all(&self, send: &[u8], send_lens: &[usize], receive: &mut [u8], receive_lens: &[usize]) -> EngineResult;

    /// Sends `part` to all ranks, and receives block `r` of `whole` from rank `r`. The lengths count bytes.
    fn all_gather(&self, part: &[u8], whole: &mut [u8], lens: &[usize]) -> EngineResult;

    /// Sends `data` of rank `root` to all ranks.
    fn broadcast(&self, data: &mut [u8], root: usize) -> EngineResult;

    /// Divides the group: ranks that give the same `group` are together, in the order of their ranks here.
    fn split(&self, group: usize) -> EngineResult<Arc<dyn Communicator>>;
}
