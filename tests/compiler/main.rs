//! The programs that the compiler accepts and refuses, and its messages.

mod coverage;
mod macros;
mod messages;
mod mutants;
#[path = "../support/profile.rs"]
mod profile;
mod program;
mod rustc;
mod source;
mod ui;
