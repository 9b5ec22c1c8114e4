#![doc = include_str!("../../docs/guide.md")]

// Its programs are wrong on purpose; `tests/compiler/ui.rs` compiles this library's and
// `tests/compiler/messages.rs` holds the page to the files.
#[cfg(not(doctest))]
#[doc = include_str!("../../docs/messages.md")]
pub mod messages {}

#[doc = include_str!("../../docs/comparison.md")]
pub mod comparison {}

#[doc = include_str!("../../docs/cuda.md")]
pub mod cuda {}
