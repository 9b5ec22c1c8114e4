//! An error inside a backward pass. Its closures can return only the device's errors, so the error of a collective
//! operation waits here until the pass is over.

use super::RanksError;
use std::cell::RefCell;

thread_local! {
    static FAILURE: RefCell<Option<RanksError>> = const { RefCell::new(None) };
}

/// Keeps the first error of a backward pass on this thread.
pub fn put_aside(error: RanksError) {
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

/// Whether a collective operation of the backward pass has failed. A further one would wait for ranks that have
/// stopped.
pub fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// Returns the error that [`put_aside`] kept, and keeps it no longer.
pub fn take_error() -> Result<(), RanksError> {
    FAILURE.take().map_or(Ok(()), Err)
}
