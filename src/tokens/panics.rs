//! Panics of other crates on damaged files, as errors.

use std::panic::{self, AssertUnwindSafe};
use std::{cell::Cell, sync::Once};

thread_local! {
    /// Whether a panic of this thread becomes an error.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that may panic on a damaged file. The panic is an error, and is not printed.
pub(super) fn catch_panic<Value>(run: impl FnOnce() -> Result<Value, String>) -> Result<Value, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                hook(info);
            }
        }));
    });
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    IS_CAUGHT.set(before);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(format!("the tokenizer is damaged: {text}"))
    })
}
