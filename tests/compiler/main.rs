//! What the compiler accepts, what it refuses, and in which words.

mod coverage;
mod macros;
mod messages;
mod mutants;
mod program;
mod rustc;
mod source;
mod ui;
