// A page of `docs` links to files, so that it can be read on a code host. Here the first definition of a link wins:
// that of `links.md`, which leads to the documentation of the item.
#![doc = include_str!("links.md")]
#![doc = include_str!("../../docs/guide.md")]

// It shows a program part by part, and not every part parses by itself.
#[allow(rustdoc::invalid_rust_codeblocks)]
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/training.md")]
pub mod training {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/llama.md")]
pub mod llama {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/pretrained.md")]
pub mod pretrained {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/porting.md")]
pub mod porting {}

// It quotes parts of signatures, which do not parse by themselves.
#[allow(rustdoc::invalid_rust_codeblocks)]
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/annotated.md")]
pub mod annotated {}

// The programs on this page are wrong on purpose, so they are no doc tests; `tests/compiler/messages.rs` compares the
// page with the files that it is made of.
#[cfg(not(doctest))]
#[doc = include_str!("../../docs/messages.md")]
pub mod messages {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/comparison.md")]
pub mod comparison {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/cuda.md")]
pub mod cuda {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/ranks.md")]
pub mod ranks {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/reliability.md")]
pub mod reliability {}
