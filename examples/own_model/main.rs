//! The program of the guide (`docs/guide.md`), in one piece.
//!
//! It is in a file of its own, since the guide's examples include it.

include!("program.rs");
