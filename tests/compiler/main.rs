//! The programs that the compiler accepts and refuses, and its messages.

mod coverage;
mod macros;
mod messages;
mod models;
mod mutants;
#[path = "../support/profile.rs"]
mod profile;
mod program;
mod programs;
mod public_items;
mod rustc;
mod source;
mod texts;
mod variants;
