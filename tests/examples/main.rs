//! The examples, run as a user runs them: their arguments, their streams, their exit status.

mod endings;
mod outputs;
#[path = "../support/profile.rs"]
mod profile;
mod program;
mod refusals;
#[cfg(all(target_os = "linux", feature = "plot"))]
mod small_disks;
#[path = "../support/mod.rs"]
mod support;

#[cfg(not(feature = "cuda"))]
mod devices;

#[cfg(feature = "tokenizers")]
mod generate;
#[cfg(feature = "plot")]
mod report;
#[cfg(feature = "tokenizers")]
mod tiny_gpt2;
mod train_on_ranks;
mod train_rot13;
mod train_sequences;
mod train_shakespeare;
#[cfg(feature = "plot")]
mod training_run;
