#![doc = include_str!("../../docs/guide.md")]

// The programs of this page must not compile, so they are no doc tests: `tests/ui.rs` compiles those
// that use this crate, and `tests/messages.rs` compares the page with them.
#[cfg(not(doctest))]
#[doc = include_str!("../../docs/messages.md")]
pub mod messages {}

#[doc = include_str!("../../docs/comparison.md")]
pub mod comparison {}

#[doc = include_str!("../../docs/cuda.md")]
pub mod cuda {}
